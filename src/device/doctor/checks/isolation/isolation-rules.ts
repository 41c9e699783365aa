import { type Outcome, ok, skipped, warning } from '../../report/finding.ts';

/** The broker's reaction when the device used topics of other devices. */
export interface IsolationFacts {
  /** Result of publishing to a topic of a device that does not exist; MQTT 3.1.1 does not report a refusal. */
  readonly published: 'taken' | 'refused' | 'unknown';
  readonly subscribed: 'granted' | 'refused' | 'unknown';
  /** The device received its own message from that topic. */
  readonly cameBack: boolean;
  /** Number of other devices whose status this device received. */
  readonly devicesHeard: number;
}

/** @param facts null: no login succeeded */
export function judgeIsolation(facts: IsolationFacts | null): Outcome {
  if (facts === null) return skipped('cannot be tested without a login (see the check "broker")');
  const { published, subscribed, cameBack, devicesHeard } = facts;
  const data = { published, subscribed, came_back: cameBack, devices_heard: devicesHeard };
  const writes = published === 'taken' || cameBack;
  const reads = cameBack || devicesHeard > 0;
  if (writes || reads) {
    const may = [...(writes ? ['publish'] : []), ...(reads ? ['receive'] : [])].join(' and ');
    return warning(
      `the broker lets this device ${may} on topics of other devices: the login of one kiosk gives access to the others`,
      'Give each device rules for its own topics only: docs/fleet.md lists them, and "dragoman-backend broker init" writes them.',
      data,
    );
  }
  if (published === 'unknown')
    return skipped(
      'MQTT 3.1.1 does not report whether a message to a topic of another device was refused',
      data,
    );
  return ok('the broker refuses topics of other devices', data);
}

/** For the running agent. */
export const NOT_TRIED = skipped(
  'the test could disconnect the running agent: stop the agent ("systemctl stop dragoman"), and run "dragoman doctor" on the device',
);
export const NOT_BESIDE_AGENT = skipped(
  'the broker allows no second client with this login: stop the agent ("systemctl stop dragoman"), and run the doctor again',
);
