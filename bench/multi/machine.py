"""What the machine is: its GPUs, their links, the libraries to compare with."""
import ctypes
import importlib.util
import os
import platform
import subprocess

_PEER_FACTS = (('performance_rank', 1), ('access', 2), ('native_atomics', 3))  # CU_DEVICE_P2P_ATTRIBUTE_…


def gpu_count():
    """GPUs that the driver shows; 0 without one."""
    driver = _driver()
    count = ctypes.c_int()
    if driver is None or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def peer_facts(gpus):
    """For each ordered pair of GPUs whether one reaches the other's memory, and how."""
    driver, facts = _driver(), []
    for source in range(gpus):
        for target in range(gpus):
            if source == target:
                continue
            pair = {'from': source, 'to': target}
            for name, attribute in _PEER_FACTS:
                value = ctypes.c_int()
                status = driver.cuDeviceGetP2PAttribute(ctypes.byref(value), attribute, source, target)
                pair[name] = value.value if status == 0 else None
            facts.append(pair)
    return facts


def describe():
    """What a result has to name: GPU, driver, processor."""
    said = {'processor': _processor(), 'processors': os.cpu_count()}
    try:
        done = subprocess.run(['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader'],
                              capture_output=True, text=True, check=True, timeout=30)
        names = [line.split(', ') for line in done.stdout.strip().splitlines()]
        said.update(gpu=names[0][0], driver=names[0][1], gpus=len(names))
    except (OSError, subprocess.SubprocessError, IndexError):
        said.update(gpu=None, driver=None, gpus=0)
    return said


def nccl_of_python():
    """The libnccl.so.2 that came with this Python's PyTorch, or None."""
    for package in ('nvidia.nccl', 'nvidia'):
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for below in ('lib', 'nccl/lib'):
                path = os.path.join(folder, below, 'libnccl.so.2')
                if os.path.exists(path):
                    return path
    return None


def has_module(name):
    return importlib.util.find_spec(name) is not None


def _driver():
    try:
        driver = ctypes.CDLL(os.environ.get('PURLIN_CUDA_DRIVER') or 'libcuda.so.1')
    except OSError:
        return None
    return driver if driver.cuInit(0) == 0 else None


def _processor():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        names = [line.split(':', 1)[1].strip() for line in file if line.startswith('model name')]
    return names[0] if names else platform.machine()
