/** Receives the fleet's messages for the console: reports of devices, their answers to commands, and their logs. */

import type { Complain } from '../../machine/limited-warnings.ts';
import type { Bus, BusMessage, OpenBus } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import { isObject, parseJson } from '../../protocol/common/json.ts';
import { count } from '../../protocol/mqtt/bounds.ts';
import { deviceTopics } from '../../protocol/mqtt/topics.ts';
import { clean } from '../fleet/clean.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { consoleFilters, readConsoleTopic } from '../fleet/fleet-topics.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { RefusedConfigs } from './refused-configs.ts';
import type { Streams } from './streams.ts';

const LONGEST_LOG = 131_072;
const MOST_LINES = 500;
const LONGEST_LINE = 2000;

/** The receivers: each message goes to one of them. */
export interface Hearers {
  readonly fleet: Pick<Fleet, 'hear' | 'listen'>;
  readonly refused: Pick<RefusedConfigs, 'heard'>;
  readonly jobs: Pick<Jobs, 'hearAnswer' | 'claim'>;
  readonly streams: Pick<Streams, 'hearLog'>;
}

export function openFleetBus(
  openBus: OpenBus,
  prefix: string,
  hearers: Hearers,
  log: Log,
  complain: Complain,
): Bus {
  const { fleet, jobs } = hearers;
  const { health } = deviceTopics({ prefix, tenant: '+', device: '+' });
  let hearsHealth = true;
  return openBus(
    { subscriptions: consoleFilters(prefix), will: null },
    {
      refused(filters) {
        hearsHealth = !filters.includes(health);
        if (!hearsHealth) fleet.listen(false);
        const sentence =
          'the broker does not allow the console to receive all its topics: give the backend the rights listed in docs/console.md';
        if (filters.length > 0) log.warn({ filters }, sentence);
      },
      up() {
        fleet.listen(hearsHealth);
        jobs.claim();
      },
      down(problem, message) {
        fleet.listen(false);
        complain(`console ${message}`, { problem }, message);
      },
      message: (message) => hear(prefix, message, hearers),
      lost: ({ topic, reason }) =>
        complain(
          'console lost',
          { topic: clean(topic), reason: clean(reason) },
          'the broker did not accept a message',
        ),
    },
  );
}

function hear(prefix: string, message: BusMessage, { fleet, refused, jobs, streams }: Hearers): void {
  const news = readConsoleTopic(prefix, message);
  if (news === null) return;
  if (news.kind === 'answer') return jobs.hearAnswer(news.name, news.payload);
  if (news.kind === 'log') {
    const log = readLog(news.payload);
    if (log !== null) streams.hearLog(news.name, log.lines, log.dropped);
    return;
  }
  fleet.hear(news);
  if (news.kind === 'reported' && !news.isRetained) refused.heard(news.name);
}

function readLog(payload: string): { lines: string[]; dropped: number } | null {
  if (payload.length > LONGEST_LOG) return null;
  const message = parseJson(payload);
  if (!isObject(message) || !Array.isArray(message['lines'])) return null;
  const lines = message['lines'].filter((line) => typeof line === 'string').slice(0, MOST_LINES);
  return {
    lines: lines.map((line) => clean(line, LONGEST_LINE)),
    dropped: count.catch(0).parse(message['dropped']),
  };
}
