/**
 * The metrics at /metrics. `dragoman_backend_...` is about this backend alone: sum over all backends. The others are
 * about the whole fleet, and every backend reports them: use those of one backend.
 */
import type { Family, Sample } from '../../adapters/watch/open-metrics.ts';
import type { BillLine } from '../../protocol/bill.ts';
import { VERSION } from '../../protocol/version.ts';
import type { DeviceView, FleetView } from '../fleet/fleet-view.ts';

/** Maximum number of devices with their own series. The others are only counted. */
export const MOST_SERIES = 1000;

export interface Seen {
  readonly isConnected: boolean;
  readonly followsFleet: boolean;
  readonly hasStore: boolean;
  readonly view: FleetView;
  readonly budgets: readonly BillLine[];
}

export function backendFamilies({ isConnected, followsFleet, hasStore, view, budgets }: Seen): Family[] {
  return [
    {
      name: 'dragoman_backend',
      type: 'info',
      help: 'This program.',
      samples: [{ labels: { version: VERSION }, value: 1 }],
    },
    gauge('dragoman_backend_broker_connected', 'Whether token requests arrive.', [one(isConnected)]),
    gauge('dragoman_backend_fleet_connected', 'Whether the status of all devices arrives.', [
      one(followsFleet),
    ]),
    gauge('dragoman_backend_store_up', 'Whether the store can be read and written.', [one(hasStore)]),
    ...fleetFamilies(view),
    ...budgetFamilies(budgets),
    ...deviceFamilies(view),
  ];
}

function fleetFamilies(view: FleetView): Family[] {
  const { statuses, reasons, phases, versions } = view.summary();
  const { lostMs, unspokenMs, billedS } = view.sums;
  return [
    gauge('dragoman_devices', 'Devices by status.', by('status', statuses)),
    gauge('dragoman_devices_with_reason', 'Devices by reason of their status.', by('reason', reasons)),
    gauge('dragoman_devices_with_version', 'Devices by version of the agent.', by('version', versions)),
    gauge('dragoman_lanes', 'Lanes by phase. live and rolling: with a session.', by('phase', phases)),
    seconds('dragoman_speech_lost_seconds', 'Speech that never reached a working service.', [
      { value: lostMs / 1000 },
    ]),
    seconds('dragoman_unspoken_seconds', 'Speech that the service received but did not speak.', [
      { value: unspokenMs / 1000 },
    ]),
    seconds('dragoman_billed_seconds', 'Time with an open stream.', [{ value: billedS }]),
    {
      name: 'dragoman_fleet_left_out',
      type: 'counter',
      samples: [{ value: view.leftOut }],
      help: 'Messages of devices that are not counted, because there are too many devices.',
    },
  ];
}

function budgetFamilies(budgets: readonly BillLine[]): Family[] {
  const of = (value: (line: BillLine) => number | null): Sample[] =>
    budgets.map((line) => ({ labels: { group: line.name }, value: (value(line) ?? 0) * 60 }));
  return [
    {
      ...gauge(
        'dragoman_group_month_seconds',
        'Stream time of the group in this month.',
        of(({ minutes }) => minutes),
      ),
      unit: 'seconds',
    },
    {
      ...gauge(
        'dragoman_group_budget_seconds',
        'Budget of the group for a month.',
        of((line) => line.budget_minutes),
      ),
      unit: 'seconds',
    },
  ];
}

function deviceFamilies(view: FleetView): Family[] {
  const shown = [...view.devices()].slice(0, MOST_SERIES);
  const of = (value: (device: DeviceView) => number): Sample[] =>
    shown.map(([device, about]) => ({ labels: { device }, value: value(about) }));
  const status = shown.flatMap(([device, about]): Sample[] =>
    about.status === null ? [] : [{ labels: { device, status: about.status }, value: 1 }],
  );
  return [
    gauge('dragoman_device_status', 'The status of a device.', status),
    seconds(
      'dragoman_device_speech_lost_seconds',
      'As dragoman_speech_lost_seconds, of one device.',
      of(({ sums }) => sums.lostMs / 1000),
    ),
    seconds(
      'dragoman_device_unspoken_seconds',
      'As dragoman_unspoken_seconds, of one device.',
      of(({ sums }) => sums.unspokenMs / 1000),
    ),
    seconds(
      'dragoman_device_billed_seconds',
      'As dragoman_billed_seconds, of one device.',
      of(({ sums }) => sums.billedS),
    ),
    gauge(
      'dragoman_device_implausible',
      'A device that reported more than the elapsed time allows; the excess is not counted.',
      [...view.devices()]
        .filter(([, { isImplausible }]) => isImplausible)
        .slice(0, MOST_SERIES)
        .map(([device]) => ({ labels: { device }, value: 1 })),
    ),
    gauge('dragoman_devices_left_out', 'Devices without series of their own.', [
      { value: view.size - shown.length },
    ]),
  ];
}

const one = (holds: boolean): Sample => ({ value: Number(holds) });

function by(label: string, counts: ReadonlyMap<string, number>): Sample[] {
  return [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'gauge', help, samples };
}

function seconds(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'counter', unit: 'seconds', help, samples };
}
