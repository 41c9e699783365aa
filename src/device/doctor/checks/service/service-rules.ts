import { combine, count, type Outcome, ok, problem, skipped, warning } from '../../report/finding.ts';
import { UNIT, type UnitProperties } from './unit-properties.ts';

/** The properties to request. */
export const UNIT_PROPERTIES = [
  'LoadState',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'Result',
  'NRestarts',
  'User',
  'SupplementaryGroups',
  'NoNewPrivileges',
  'ProtectSystem',
  'DevicePolicy',
  'PrivateDevices',
  'MemoryDenyWriteExecute',
  'ProcSubset',
  'NeedDaemonReload',
] as const;

const MANY_RESTARTS = 3;

/** @param unit null without systemd */
export function judgeUnit(unit: UnitProperties | null, usesSoundCards: boolean): Outcome {
  if (unit === null) return skipped('no systemd runs here');
  const { LoadState, ActiveState, SubState, UnitFileState, Result, NRestarts } = unit;
  const data = {
    load: LoadState,
    active: ActiveState,
    enabled: UnitFileState,
    result: Result,
    restarts: Number(NRestarts ?? 0),
  };
  if (LoadState === 'not-found')
    return warning(
      'the unit is not installed: nothing starts the agent at boot',
      'Install systemd/dragoman.service, then "systemctl enable --now dragoman".',
      data,
    );
  if (LoadState !== 'loaded')
    return problem(`its unit cannot be loaded (${LoadState})`, `See "systemctl status ${UNIT}".`, data);
  return combine([
    judgeState(unit, `${ActiveState} (${SubState})`, data),
    ...judgeBoot(UnitFileState ?? ''),
    ...judgeRestarts(data.restarts),
    ...judgeSandbox(unit, usesSoundCards),
  ]);
}

function judgeState({ ActiveState, Result }: UnitProperties, state: string, data: Outcome['data']): Outcome {
  if (ActiveState === 'active') return ok(`installed, ${state}`, data);
  if (ActiveState === 'failed')
    return problem(
      `the unit has failed (${Result})`,
      `"journalctl -u ${UNIT} -n 50" shows why; then run "systemctl restart dragoman".`,
      data,
    );
  if (ActiveState === 'activating')
    return problem(`the unit does not stay up: ${state}`, `"journalctl -u ${UNIT} -n 50" shows why.`, data);
  return warning(`the unit is installed but not running: ${state}`, 'Run "systemctl start dragoman".', data);
}

function judgeBoot(state: string): Outcome[] {
  if (['enabled', 'enabled-runtime', 'static', 'generated', 'alias'].includes(state)) return [];
  return [warning('it does not start at boot', 'Run "systemctl enable dragoman".')];
}

function judgeRestarts(restarts: number): Outcome[] {
  if (restarts < MANY_RESTARTS) return [];
  return [
    warning(
      `it was restarted ${count(restarts, 'time')}`,
      `"journalctl -u ${UNIT} -p warning" shows why it ended.`,
    ),
  ];
}

/** A setting that breaks the agent is a problem; one that gives it unneeded rights is a warning. */
function judgeSandbox(unit: UnitProperties, usesSoundCards: boolean): Outcome[] {
  const outcomes: Outcome[] = [];
  const drop = (setting: string, why: string): void =>
    void outcomes.push(problem(`its unit has ${setting}, which ${why}`, `Remove ${setting} from the unit.`));
  if (unit['MemoryDenyWriteExecute'] === 'yes') drop('MemoryDenyWriteExecute=yes', 'kills Node');
  if (usesSoundCards && unit['PrivateDevices'] === 'yes') drop('PrivateDevices=yes', 'hides the sound cards');
  if (unit['ProcSubset'] === 'pid') drop('ProcSubset=pid', 'hides /proc/asound');
  if (usesSoundCards && unit['User'] !== '' && unit['User'] !== 'root') {
    const groups = (unit['SupplementaryGroups'] ?? '').split(/\s+/);
    // The user may be in the group anyway; the permissions check covers that.
    if (!groups.includes('audio'))
      outcomes.push(
        warning(
          'its unit does not name the group audio, which gives access to the sound cards',
          'Put SupplementaryGroups=audio into the unit.',
        ),
      );
  }
  const open = [
    ...(unit['User'] === '' || unit['User'] === 'root' ? ['it runs as root'] : []),
    ...(unit['NoNewPrivileges'] === 'no' ? ['NoNewPrivileges is off'] : []),
    ...(unit['ProtectSystem'] === 'no' ? ['ProtectSystem is off'] : []),
  ];
  if (open.length > 0)
    outcomes.push(
      warning(`its sandbox is open: ${open.join(', ')}`, 'Use the unit that comes with the project.'),
    );
  if (unit['NeedDaemonReload'] === 'yes')
    outcomes.push(warning('its unit file has changed since it was read', 'Run "systemctl daemon-reload".'));
  return outcomes;
}
