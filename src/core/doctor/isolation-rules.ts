import { type Outcome, ok, skipped, warning } from './finding.ts';

/** What the broker did when the device reached for what is not its own. */
export interface IsolationFacts {
  /** A message to a topic of a device that does not exist; MQTT 3.1.1 does not tell that one was refused. */
  readonly published: 'taken' | 'refused' | 'unknown';
  readonly subscribed: 'granted' | 'refused' | 'unknown';
  /** Its own message came back from there. */
  readonly cameBack: boolean;
  /** How many other devices told it how they are. */
  readonly devicesHeard: number;
}

/** @param facts null: nobody could log in */
export function judgeIsolation(facts: IsolationFacts | null): Outcome {
  if (facts === null) return skipped('there was no login to try it with (the check "broker" tells why)');
  const { published, subscribed, cameBack, devicesHeard } = facts;
  const data = { published, subscribed, came_back: cameBack, devices_heard: devicesHeard };
  const writes = published === 'taken' || cameBack;
  const reads = cameBack || devicesHeard > 0;
  if (writes || reads) {
    const may = [...(writes ? ['publish'] : []), ...(reads ? ['receive'] : [])].join(' and ');
    return warning(
      `the broker lets this device ${may} on topics of other devices: whoever has the login of one kiosk reaches the others`,
      'Give each device rules for its own topics alone: docs/fleet.md tells which, and "dragoman-backend broker init" writes them.',
      data,
    );
  }
  if (published === 'unknown')
    return skipped(
      'MQTT 3.1.1 does not tell whether a message to a topic of another device was refused',
      data,
    );
  return ok('the broker refuses topics of other devices', data);
}
