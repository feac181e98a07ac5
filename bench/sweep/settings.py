"""What the sweep varies: the settings of one throughput call, their neighbours, and where it starts."""
import collections
import math

# CTAs only of roles that the collective has; the others keep what the base policy says.
ROLES = {'all_gather': ('stage', 'gather'), 'reduce_scatter': ('stage', 'reduce'),
         'all_reduce': ('stage', 'reduce', 'gather'), 'all_to_all': ('stage', 'gather'),
         'broadcast': ('stage', 'reduce', 'gather'), 'reduce': ('stage', 'reduce', 'gather'),
         'scatter': ('stage', 'gather'), 'gather': ('stage', 'gather')}
REDUCING = ('all_reduce', 'reduce_scatter', 'reduce')
# Move the same bytes by the same flows when their parts are equal; they take the rows of the others.
FOLLOWERS = {'all_gather': 'all_gather_v', 'reduce_scatter': 'reduce_scatter_v', 'all_to_all': 'all_to_all_v'}

# stages and stage_bytes 0: the Atom's own. Host ranks have one CTA a role and no stages.
Setting = collections.namedtuple('Setting', 'direction chunk stage reduce gather stages stage_bytes')

LEAST_CHUNK, MOST_CHUNK = 8 << 10, 4 << 20
MOST_CTAS = 512
LEAST_STAGE, MOST_STAGE, MOST_STAGES = 256, 1 << 20, 64


class Limits:
    """What no candidate may exceed: the policy's own bounds and the CTAs that a rank can have."""

    def __init__(self, ranks, throughput_bytes, ctas):
        self.chunk = min(MOST_CHUNK, throughput_bytes // (2 * ranks))
        self.ctas = min(MOST_CTAS, ctas)

    def allows(self, setting, collective):
        return (LEAST_CHUNK <= setting.chunk <= self.chunk and ctas_of(setting, collective) <= self.ctas and
                all(getattr(setting, role) >= 1 for role in ROLES[collective]) and
                (setting.stages == 0 or 1 <= setting.stages <= MOST_STAGES) and
                (setting.stage_bytes == 0 or LEAST_STAGE <= setting.stage_bytes <= MOST_STAGE))


def ctas_of(setting, collective):
    """CTAs of one launch."""
    return sum(getattr(setting, role) for role in ROLES[collective])


def rule_ctas(bandwidth_GBps, round_trip_ns, stages, stage_bytes):
    """Fewest CTAs whose pipelines hold bandwidth x round trip in flight."""
    return max(1, math.ceil(bandwidth_GBps * round_trip_ns / (stages * stage_bytes)))


def with_ctas(setting, collective, each, limit):
    """`each` CTAs for every role of the collective, or as many as the limit leaves."""
    roles = ROLES[collective]
    return setting._replace(**{role: max(1, min(each, limit // len(roles))) for role in roles})


def neighbours(setting, collective, limits, on_gpu):
    """(what changes, setting) one step away, the larger steps first."""
    steps = [('direction', {'direction': 'push' if setting.direction == 'pull' else 'pull'}),
             ('chunk doubled', {'chunk': setting.chunk * 2}), ('chunk halved', {'chunk': setting.chunk // 2})]
    if on_gpu:
        roles = ROLES[collective]
        for name, factor in (('doubled', 2), ('halved', 0.5)):
            scaled = {role: max(1, int(getattr(setting, role) * factor)) for role in roles}
            steps.append(('all CTAs ' + name, scaled))
            steps += [('%s CTAs %s' % (role, name), {role: scaled[role]}) for role in roles]
        if setting.stages and setting.stage_bytes:
            steps += [('half as many stages, twice as large',
                       {'stages': setting.stages // 2, 'stage_bytes': setting.stage_bytes * 2}),
                      ('twice as many stages, half as large',
                       {'stages': setting.stages * 2, 'stage_bytes': setting.stage_bytes // 2}),
                      ('stages doubled', {'stages': setting.stages * 2}),
                      ('stages halved', {'stages': max(1, setting.stages // 2)})]
    for what, changed in steps:
        candidate = setting._replace(**changed)
        if candidate != setting and limits.allows(candidate, collective):
            yield what, candidate
