"""The preload that shows one device as several, over a runtime that has one and refuses all others."""
import os
import subprocess
import sys
import unittest

import level

_FOLDER = os.path.join(os.environ.get('PURLIN_BINARY_DIR', ''), 'tests/nccl')

_PROGRAM = '''
import ctypes, threading
rt = ctypes.CDLL(None)
number = ctypes.c_int()
def get(function, *arguments):
    code = function(ctypes.byref(number), *arguments)
    return number.value if code == 0 else -code
print(get(rt.cudaGetDeviceCount))
print(rt.cudaSetDevice(2), get(rt.cudaGetDevice))
print(rt.cudaSetDevice(3), rt.cudaSetDevice(-1), get(rt.cudaGetDevice))
print(rt.cudaGetDeviceProperties(None, 2), rt.cudaGetDeviceProperties_v2(None, 1),
      rt.cudaGetDeviceProperties(None, 3))
print(get(rt.cudaDeviceGetAttribute, 75, 1), get(rt.cudaDeviceGetAttribute, 75, 9))
print(get(rt.cudaDeviceCanAccessPeer, 0, 1), get(rt.cudaDeviceCanAccessPeer, 1, 1))
print(rt.cudaDeviceEnablePeerAccess(1, 0), rt.cudaDeviceEnablePeerAccess(2, 0))
def other():
    print(get(rt.cudaGetDevice), rt.cudaSetDevice(1), get(rt.cudaGetDevice))
thread = threading.Thread(target=other)
thread.start()
thread.join()
print(get(rt.cudaGetDevice))
streams = [ctypes.c_void_p() for _ in range(4)]
for stream, device in zip(streams, (0, 1, 1, 0)):
    rt.cudaSetDevice(device)
    rt.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
rt.cudaStreamDestroy(streams[3])
print(rt.cudaDeviceSynchronize(), rt.waited(), rt.cudaSetDevice(1), rt.cudaDeviceSynchronize(), rt.waited())
'''


class Devices(unittest.TestCase):
    def test_each_thread_has_its_device_and_the_runtime_sees_the_first(self):
        if os.environ.get('PURLIN_SANITIZE'):
            level.skip('a sanitizer does not allow libraries that come before it')
            self.skipTest('see above')
        environment = {**os.environ, 'PURLIN_SEVERAL_DEVICES': '3', 'LD_PRELOAD': ' '.join(
            os.path.join(_FOLDER, name) for name in ('libpurlin_several_devices.so', 'libfake_runtime.so'))}
        done = subprocess.run([sys.executable, '-c', _PROGRAM], env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        self.assertEqual(done.stdout.splitlines(), [
            '3', '0 2', '101 101 2', '0 0 101', '75 -101', '1 0', '0 101', '0 0 1', '2', '0 1 0 0 23'])
        level.count_cases(1)


if __name__ == '__main__':
    level.main()
