/** Whatever ends a stream: speech that it took and did not speak goes to the next one, or is counted. */
import { describe, expect, it } from 'vitest';
import type { StreamFault } from '../../../src/ports/stream.ts';
import { finished, heard, limit, ready, refused, translated, understood } from '../../service-events.ts';
import { fork } from './fork.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { isQuiet } from './sound.ts';

type Act = (lane: LaneHarness, stream: number) => void;
const break_ =
  (fault: StreamFault): Act =>
  (lane, stream) =>
    lane.step({ type: 'broke', stream, fault, message: 'the agent ended it' });

/** Every way in which a stream ends that has taken speech. */
const ENDS: Readonly<Record<string, Act>> = {
  'a cut connection': (lane, stream) => lane.end('cut', {}, stream),
  'a closed connection': (lane, stream) => lane.end('closed', {}, stream),
  'an error of the connection': (lane, stream) =>
    lane.step({ type: 'unreached', stream, spent: true, message: 'gone' }),
  'a breach of the protocol': break_('service'),
  'a flood': break_('flood'),
  'a fault of the agent': break_('agent'),
  'the service, as complete': (lane, stream) => lane.says(finished(), stream),
  'the longest duration': (lane, stream) => lane.says(limit('max_duration'), stream),
  'a revocation': (lane, stream) => lane.says(limit('revoked'), stream),
  'a refusal': (lane, stream) => lane.says(refused('service_error'), stream),
  'a timeout of the service': (lane, stream) => lane.says(refused('service_timeout'), stream),
  'no answer to pings': (lane) => {
    lane.pongs = false;
    lane.pass(40_000);
  },
  'a stop that the service completes': (lane) => {
    lane.stop();
    lane.says(finished());
  },
  'a stop that the service ignores': (lane) => {
    lane.stop();
    lane.pass(60_000);
  },
  'a stop and a start': (lane) => {
    lane.stop();
    lane.start();
  },
  'the end of the agent': (lane) => {
    lane.shutdown();
    lane.pass(60_000);
  },
  'the end of the opening hours': (lane) => {
    lane.hold('closed');
    lane.pass(60_000);
  },
  'a defect of the program': (lane) => lane.crash(),
};

const many = (lane: LaneHarness, say: (index: number) => Parameters<LaneHarness['says']>[0]): void => {
  for (let index = 0; index < 40; index++) lane.says(say(index));
};
const begin: Act = (lane, stream) => {
  lane.translates('a', 55);
  lane.hear('a', 400, false, stream, 'a', 'es');
};

/** What the service has said of it before, and what of it is spoken: nothing, or too little. */
const ANSWERS: Readonly<Record<string, Act>> = {
  nothing: () => {},
  'partial texts': (lane) => lane.says(heard({ id: 'a' })),
  'its text': (lane) => lane.understands('a'),
  'the begin of its sound': begin,
  'texts with new ids': (lane) => many(lane, (index) => understood({ id: `n${index}` })),
  'translations with new ids, then more of its sound': (lane, stream) => {
    begin(lane, stream);
    many(lane, (index) => translated({ id: `n${index}` }));
    lane.hear('a', 300, false, stream, 'a', 'es');
  },
  'texts with times and new ids, then more of its sound': (lane, stream) => {
    const span = { fromMs: 0, toMs: 12 * CHUNK_MS };
    lane.says(translated({ id: 'a', text: 'x'.repeat(55), span }));
    many(lane, (index) => understood({ id: `n${index}`, span: { fromMs: 640, toMs: 1600 } }));
    lane.hear('a', 300, false, stream, 'a', 'es');
  },
  'texts with new ids, and sound of a sentence before': (lane, stream) => {
    begin(lane, stream);
    many(lane, (index) => translated({ id: `n${index}` }));
    lane.hush(5);
    lane.speak(5);
    lane.hear('a', 300, false, stream, 'a', 'es');
  },
};

/** The speech that a stream was sent (ms). */
const speechTo = (lane: LaneHarness, isIt: (stream: number) => boolean) =>
  lane
    .all('send_audio')
    .flatMap(({ stream, pcm, capturedAt }) =>
      isIt(stream) && pcm !== null && !isQuiet(pcm) ? [capturedAt] : [],
    );
const countedMs = ({ state: { counts, backlog } }: LaneHarness): number =>
  counts.unspokenMs + backlog.accounts.lost * CHUNK_MS;
/** Begins again, if the lane is to run, and sends all that is held. */
function goOn(lane: LaneHarness): void {
  if (['idle', 'closed'].includes(lane.phase)) return;
  if (lane.phase !== 'live') lane.comeBack();
  lane.hush(60);
}

/** A lane whose stream has taken speech and got this answer, ready to be forked for each end. */
function answered(answer: Act, hushed: number): LaneHarness {
  const lane = new LaneHarness().goLive();
  lane.pongs = true;
  lane.speak(12);
  lane.hush(hushed);
  answer(lane, lane.stream);
  return lane;
}
const answeredLanes = new Map<Act, readonly LaneHarness[]>();
function lanesWith(answer: Act): readonly LaneHarness[] {
  const known = answeredLanes.get(answer) ?? [0, 5].map((hushed) => answered(answer, hushed));
  answeredLanes.set(answer, known);
  return known.map(fork);
}

describe.each(Object.entries(ENDS))('a stream that is ended by %s', (_end, end) => {
  it.each(Object.entries(ANSWERS))(
    'owes nothing that is neither sent again nor counted when it has sent %s',
    (_answer, answer) => {
      for (const lane of lanesWith(answer)) {
        const { stream } = lane;
        const owed = speechTo(lane, (one) => one === stream);
        end(lane, stream);
        const counted = countedMs(lane);
        goOn(lane);
        const again = new Set(speechTo(lane, (one) => one > stream));
        const missing = owed.filter((capturedAt) => !again.has(capturedAt)).length * CHUNK_MS;
        expect(counted).toBeGreaterThanOrEqual(missing - 1);
      }
    },
  );
});

describe('speech that a stream has forgotten without any reaction of the service', () => {
  it.each(Object.entries(ENDS))('is counted when it is ended by %s', (_end, end) => {
    const lane = new LaneHarness().goLive();
    lane.pongs = true;
    const { stream } = lane;
    lane.speak(12);
    // Its task is confirmed again and again, so that the lane stays.
    for (let index = 0; index < 12; index++) {
      lane.hush(9);
      lane.says(ready());
    }
    const counted = countedMs(lane);
    end(lane, stream);
    expect(countedMs(lane) - counted).toBeGreaterThanOrEqual(12 * CHUNK_MS);
  });
});

describe('a session that finishes beside its successor', () => {
  const fromService = Object.entries(ENDS).filter(([name]) => name !== 'no answer to pings');
  it.each([...fromService, ['the time limit', (lane: LaneHarness) => lane.pass(60_000)] as const])(
    'owes nothing that is neither sent again nor counted when it is ended by %s',
    (_name, end) => {
      const lane = new LaneHarness().goReady();
      const first = lane.stream - 1;
      lane.hush(3);
      expect(lane.state.oldSession?.stream.id).toBe(first);
      const owed = speechTo(lane, (stream) => stream === first);
      const counted = countedMs(lane);
      end(lane, first);
      if (lane.phase === 'live') lane.hush(60);
      const again = new Set(speechTo(lane, (stream) => stream > first));
      const missing = owed.filter((capturedAt) => !again.has(capturedAt)).length * CHUNK_MS;
      expect(owed.length).toBeGreaterThan(3);
      expect(countedMs(lane) - counted).toBeGreaterThanOrEqual(missing - 1);
    },
  );
});
