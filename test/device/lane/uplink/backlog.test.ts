import { describe, expect, it } from 'vitest';
import {
  type Backlog,
  type BacklogChunk,
  dropAll,
  EMPTY_BACKLOG,
  forNewStream,
  NO_ACCOUNTS,
  PAUSE_KEPT_CHUNKS,
  remember,
  take,
  takeBack,
  takeOldest,
  trim,
} from '../../../../src/device/lane/uplink/backlog.ts';
import { fc } from '../../../properties.ts';

const ROOMY = 1000;

/** s: speech, q: a quiet room, m: muted (no sound kept). */
function chunkOf(letter: string, seq: number): BacklogChunk {
  const pcm = letter === 'm' ? null : Uint8Array.of(seq);
  return { seq, capturedAt: seq * 320, pcm, voiced: letter === 's', queued: false };
}

function fill(story: string, capacity = ROOMY, from: Backlog = EMPTY_BACKLOG): Backlog {
  return [...story].reduce(
    (backlog, letter) => take(backlog, chunkOf(letter, backlog.accounts.captured), capacity),
    from,
  );
}

function letterOf(chunk: BacklogChunk): string {
  return chunk.pcm === null ? 'm' : chunk.voiced ? 's' : 'q';
}

function show(backlog: Backlog): string {
  return backlog.chunks.map(letterOf).join('');
}

/** Sends everything, trimming before each send, as a lane that catches up does. */
function drain(from: Backlog): { sent: string; backlog: Backlog } {
  let sent = '';
  let backlog = trim(from);
  for (let next = takeOldest(backlog); next !== null; next = takeOldest(backlog)) {
    sent += letterOf(next.chunk);
    backlog = trim(next.backlog);
  }
  return { sent, backlog };
}

function isBalanced(backlog: Backlog): boolean {
  const { captured, sent, silenced, trimmed, dropped, lost } = backlog.accounts;
  return captured === sent + silenced + trimmed + dropped + backlog.chunks.length && lost <= dropped;
}

describe('a backlog', () => {
  it('returns chunks in order and whole', () => {
    const { backlog, chunk } = takeOldest(fill('sqs')) ?? {};
    expect(chunk).toEqual(chunkOf('s', 0));
    expect(backlog?.chunks.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('returns nothing when it is empty', () => {
    expect(takeOldest(EMPTY_BACKLOG)).toBeNull();
    expect(trim(EMPTY_BACKLOG)).toBe(EMPTY_BACKLOG);
    expect(dropAll(EMPTY_BACKLOG)).toEqual(EMPTY_BACKLOG);
  });

  it('counts sound as sent and a gated chunk as silenced', () => {
    const { backlog } = drain(fill('smqs'));
    expect(backlog.accounts).toEqual({ ...NO_ACCOUNTS, captured: 4, sent: 3, silenced: 1 });
  });

  it('counts chunks that a stop drops as dropped, but not as lost', () => {
    const backlog = dropAll(fill('ssqm'));
    expect(backlog.accounts).toEqual({ ...NO_ACCOUNTS, captured: 4, dropped: 4 });
    expect(backlog.chunks).toEqual([]);
  });

  it('forgets the running pause when it is stopped', () => {
    const { backlog } = drain(fill('qqqqqq'));
    expect(backlog.quietRun).toBeGreaterThan(0);
    expect(dropAll(backlog).quietRun).toBe(0);
  });
});

describe('trimming', () => {
  it.each([
    ['nothing of speech', 'ssssss', 'ssssss'],
    ['nothing of a short pause', 'ssqqqss', 'ssqqqss'],
    [
      'a long pause down to what confirms a sentence, and the soft beginning of the next',
      'sqqqqqqqqs',
      'sqqqqs',
    ],
    ['gated chunks as well as quiet ones', 'smmmqqmqs', 'smmmqs'],
    ['each pause for itself', 'sqqqqqqsqqqqqqs', 'sqqqqsqqqqs'],
    ['the end of a story, but for its last chunk', 'sqqqqqqq', 'sqqqq'],
    ['silence from the start alike', 'qqqqqqqs', 'qqqqs'],
  ])('takes %s', (_, story, sent) => {
    expect(drain(fill(story)).sent).toBe(sent);
  });

  it('keeps a pause of more than the 0.7 s that the service waits for', () => {
    expect(PAUSE_KEPT_CHUNKS * 320).toBeGreaterThan(700);
  });

  it('counts the chunks that it removes', () => {
    const { accounts } = drain(fill('sqqqqqqqqs')).backlog;
    expect(accounts).toEqual({ ...NO_ACCOUNTS, captured: 10, sent: 6, trimmed: 4 });
  });

  it('continues a pause that began before', () => {
    const begun = drain(fill('sqqq')).backlog;
    expect(drain(fill('qqqqs', ROOMY, begun)).sent).toBe('qs');
    const spoken = drain(fill('sqqqs')).backlog;
    expect(drain(fill('qqqqs', ROOMY, spoken)).sent).toBe('qqqqs');
  });

  it('changes nothing while one chunk waits at a time', () => {
    let backlog = EMPTY_BACKLOG;
    let sent = '';
    for (const letter of 'sqqqqqqqqqqs') {
      const next = takeOldest(trim(fill(letter, ROOMY, backlog)));
      if (next === null) continue;
      sent += letterOf(next.chunk);
      backlog = next.backlog;
    }
    expect(sent).toBe('sqqqqqqqqqqs');
  });
});

describe('the first chunks of a new stream', () => {
  const drainFresh = (story: string) => drain(forNewStream(fill(story)));

  it.each([
    ['no pause, but three chunks in which a first word may begin softly', 'qqqqqqqs', 'qqqs'],
    ['all of a shorter pause', 'qqs', 'qqs'],
    ['no gated chunks, which hold nothing of a word', 'qqqmqmss', 'qmss'],
    ['of each pause one chunk more, until it has had all', 'qqqqqsqqqqqqqsqqqqqqqs', 'qqqsqqqqqsqqqqqs'],
    ['nothing to wait for while no person speaks', 'qqqqqq', 'q'],
  ])('is %s', (_, story, sent) => {
    expect(drainFresh(story).sent).toBe(sent);
  });

  it('keep less sound before them after a word was sent, or everything was dropped', () => {
    const spoken = drainFresh('qqs').backlog;
    expect(drain(fill('qqqqqqs', ROOMY, spoken)).sent).toBe('qqqqs');
    const afterPause = drain(fill('sqqqqqqqs', ROOMY, spoken)).sent;
    expect(afterPause).toBe('sqqqqs');
    const dropped = dropAll(forNewStream(fill('qq')));
    expect(drain(fill('qqqqqqqs', ROOMY, dropped)).sent).toBe('qqqqs');
  });

  it('keep that sound when a loud frame of the room came before the first word', () => {
    const judged = (letter: string, seq: number, score: number): BacklogChunk => ({
      ...chunkOf(letter, seq),
      levels: { loudestDb: -30, quietestDb: -50, talk: { score, roomDb: -45 } },
    });
    const scores = { s: -9, t: 3, q: -20 } as const;
    const heard = (story: string): Backlog =>
      [...story].reduce((backlog, letter) => {
        const score = scores[letter as keyof typeof scores];
        return take(backlog, judged(letter === 't' ? 's' : letter, backlog.accounts.captured, score), ROOMY);
      }, forNewStream(EMPTY_BACKLOG));
    expect(drain(heard('sqqqqqqqqqst')).sent).toBe('sqqqqqqqss');
    expect(drain(heard('tqqqqqqqqqst')).sent).toBe('sqqqqqss');
  });

  it('keep that sound when chunks are taken back before a word was sent', () => {
    const { backlog, chunk } = takeOldest(forNewStream(fill('qqqqq'))) ?? {};
    if (backlog === undefined || chunk === undefined) throw new Error('nothing was taken');
    expect(drain(fill('s', ROOMY, takeBack(backlog, [chunk], ROOMY))).sent).toBe('qqqs');
  });
});

describe('a full backlog', () => {
  it('drops the oldest speech, and counts it as lost', () => {
    const backlog = fill('sssss', 3);
    expect(backlog.chunks.map(({ seq }) => seq)).toEqual([2, 3, 4]);
    expect(backlog.accounts).toEqual({ ...NO_ACCOUNTS, captured: 5, dropped: 2, lost: 2 });
  });

  it('counts a dropped pause as dropped, not as lost, and a long one as trimmed', () => {
    const backlog = fill('qqqqqqqq', 3);
    expect(backlog.accounts).toEqual({ ...NO_ACCOUNTS, captured: 8, dropped: 3, trimmed: 2 });
    expect(fill('mmmm', 3).accounts.lost).toBe(0);
  });

  it('restarts the count of a pause after speech that it dropped', () => {
    const backlog = fill('qqqsqqqqqq', 3);
    expect(backlog.accounts.trimmed).toBe(0);
    expect(backlog.accounts.dropped).toBe(7);
    expect(backlog.accounts.lost).toBe(1);
  });

  it('is full at its capacity and not earlier', () => {
    expect(show(fill('sss', 3))).toBe('sss');
    expect(fill('sss', 3).accounts.dropped).toBe(0);
    expect(show(fill('sssq', 3))).toBe('ssq');
  });

  it('holds nothing when its capacity is 0', () => {
    expect(fill('ssq', 0).accounts).toEqual({ ...NO_ACCOUNTS, captured: 3, dropped: 3, lost: 2 });
  });
});

describe('chunks that are taken back', () => {
  /** A backlog that has sent a whole story and taken it back. */
  function backOf(story: string, held: string, capacity = ROOMY): Backlog {
    let backlog = fill(story);
    const sent = [];
    for (let out = takeOldest(backlog); out !== null; out = takeOldest(backlog)) {
      sent.push(out.chunk);
      backlog = out.backlog;
    }
    return takeBack(fill(held, ROOMY, backlog), sent, capacity);
  }

  it('are held again before everything else, marked as queued', () => {
    const backlog = backOf('smq', 'ss');
    expect(backlog.chunks.map(letterOf).join('')).toBe('smqss');
    expect(backlog.chunks.map(({ queued }) => queued)).toEqual([true, true, true, false, false]);
    expect(backlog.accounts).toEqual({ ...NO_ACCOUNTS, captured: 5 });
  });

  it('stay within the bound: the oldest is dropped', () => {
    const backlog = backOf('ssss', 'ss', 4);
    expect(backlog.chunks.map(({ seq }) => seq)).toEqual([2, 3, 4, 5]);
    expect(backlog.accounts).toEqual({ ...NO_ACCOUNTS, captured: 6, dropped: 2, lost: 2 });
  });

  it('replace pause chunks first that no stream would get', () => {
    const backlog = backOf('ssss', 'qqqqqqqqqqqq', 12);
    expect(show(backlog)).toBe('ssssqqqqqqqq');
    expect(backlog.accounts).toEqual({ ...NO_ACCOUNTS, captured: 16, trimmed: 4 });
    expect(drain(backlog).sent).toBe(drain(backOf('ssss', 'qqqqqqqqqqqq')).sent);
  });

  it('replace chunks of the oldest pauses until only enough is left, and are dropped after that', () => {
    const backlog = backOf('sqqqqqqqqqs', 'mmmmmmmmms', 18);
    expect(show(backlog)).toBe('sqqqqqqqsmmmmmmmms');
    const fuller = backOf('sqqqqqqqqqs', 'mmmmmmmmms', 16);
    expect(show(fuller)).toBe('qqqqqqqsmmmmmmms');
    expect(fuller.accounts).toEqual({ ...NO_ACCOUNTS, captured: 21, trimmed: 4, dropped: 1, lost: 1 });
    expect(backOf('sqqqqqqqs', 's', 9).accounts).toMatchObject({ trimmed: 0, lost: 1 });
  });

  it('need no pause before them, because the next stream is new', () => {
    expect(trim(backOf('qqqs', '')).chunks.map(letterOf).join('')).toBe('qs');
  });
});

describe('sound that is kept in standby', () => {
  it('is the latest, and older chunks count as trimmed', () => {
    let backlog = EMPTY_BACKLOG;
    for (const letter of 'qsqsmq') backlog = remember(backlog, chunkOf(letter, backlog.accounts.captured), 4);
    expect(backlog.chunks.map(letterOf).join('')).toBe('qsmq');
    expect(backlog.accounts).toEqual({ ...NO_ACCOUNTS, captured: 6, trimmed: 2 });
  });
});

describe('any sequence of operations on a backlog', () => {
  const deed = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('s', 'q', 'q', 'm') },
    { weight: 3, arbitrary: fc.constantFrom('takeOldest', 'trim') },
    { weight: 1, arbitrary: fc.constant('dropAll') },
  );

  it('counts each chunk once, in order, within the bound', () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (deeds, capacity) => {
        let backlog = EMPTY_BACKLOG;
        let lastReleased = -1;
        for (const what of deeds) {
          if (what === 'takeOldest') {
            const next = takeOldest(backlog);
            if (next === null) continue;
            expect(next.chunk.seq).toBeGreaterThan(lastReleased);
            lastReleased = next.chunk.seq;
            backlog = next.backlog;
          } else if (what === 'trim') backlog = trim(backlog);
          else if (what === 'dropAll') backlog = dropAll(backlog);
          else backlog = take(backlog, chunkOf(what, backlog.accounts.captured), capacity);
          expect(isBalanced(backlog)).toBe(true);
          expect(backlog.chunks.length).toBeLessThanOrEqual(capacity);
        }
      }),
    );
  });

  it('never trims speech, and leaves enough of each pause', () => {
    const story = fc
      .array(fc.constantFrom('s', 'q', 'm'), { maxLength: 80 })
      .map((letters) => letters.join(''));
    fc.assert(
      fc.property(story, (given) => {
        const { sent } = drain(fill(given));
        const speech = (text: string): string => text.replace(/[^s]/g, '');
        expect(speech(sent)).toBe(speech(given));
        const pauses = (text: string): number[] => text.split('s').map((pause) => pause.length);
        expect(pauses(sent)).toEqual(pauses(given).map((length) => Math.min(length, PAUSE_KEPT_CHUNKS + 1)));
      }),
    );
  });
});
