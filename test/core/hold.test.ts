import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  discard,
  EMPTY_HOLD,
  type HeldChunk,
  type Hold,
  NO_ACCOUNTS,
  PAUSE_KEPT_CHUNKS,
  release,
  remember,
  take,
  takeBack,
  trim,
} from '../../src/core/hold.ts';

const ROOMY = 1000;

/** s: speech, q: a quiet room, m: muted (no sound kept). */
function chunkOf(letter: string, seq: number): HeldChunk {
  const pcm = letter === 'm' ? null : Uint8Array.of(seq);
  return { seq, capturedAt: seq * 320, pcm, voiced: letter === 's', queued: false };
}

function fill(story: string, capacity = ROOMY, from: Hold = EMPTY_HOLD): Hold {
  return [...story].reduce(
    (hold, letter) => take(hold, chunkOf(letter, hold.accounts.captured), capacity),
    from,
  );
}

function letterOf(chunk: HeldChunk): string {
  return chunk.pcm === null ? 'm' : chunk.voiced ? 's' : 'q';
}

function show(hold: Hold): string {
  return hold.chunks.map(letterOf).join('');
}

/** Sends everything, trimming before each send, as a lane that catches up does. */
function drain(from: Hold): { sent: string; hold: Hold } {
  let sent = '';
  let hold = trim(from);
  for (let next = release(hold); next !== null; next = release(hold)) {
    sent += letterOf(next.chunk);
    hold = trim(next.hold);
  }
  return { sent, hold };
}

function isBalanced(hold: Hold): boolean {
  const { captured, sent, silenced, trimmed, dropped, lost } = hold.accounts;
  return captured === sent + silenced + trimmed + dropped + hold.chunks.length && lost <= dropped;
}

describe('hold', () => {
  it('gives chunks back in order and whole', () => {
    const { hold, chunk } = release(fill('sqs')) ?? {};
    expect(chunk).toEqual(chunkOf('s', 0));
    expect(hold?.chunks.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('has nothing to give when it is empty', () => {
    expect(release(EMPTY_HOLD)).toBeNull();
    expect(trim(EMPTY_HOLD)).toBe(EMPTY_HOLD);
    expect(discard(EMPTY_HOLD)).toEqual(EMPTY_HOLD);
  });

  it('books sound as sent and a gated chunk as silenced', () => {
    const { hold } = drain(fill('smqs'));
    expect(hold.accounts).toEqual({ ...NO_ACCOUNTS, captured: 4, sent: 3, silenced: 1 });
  });

  it('books what is thrown away at a stop as dropped, but not as lost', () => {
    const hold = discard(fill('ssqm'));
    expect(hold.accounts).toEqual({ ...NO_ACCOUNTS, captured: 4, dropped: 4 });
    expect(hold.chunks).toEqual([]);
  });

  it('forgets at a stop that there was a pause', () => {
    const { hold } = drain(fill('qqqqqq'));
    expect(hold.quietRun).toBeGreaterThan(0);
    expect(discard(hold).quietRun).toBe(0);
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

  it('books what it takes out', () => {
    const { accounts } = drain(fill('sqqqqqqqqs')).hold;
    expect(accounts).toEqual({ ...NO_ACCOUNTS, captured: 10, sent: 6, trimmed: 4 });
  });

  it('goes on with a pause that was begun before', () => {
    const begun = drain(fill('sqqq')).hold;
    expect(drain(fill('qqqqs', ROOMY, begun)).sent).toBe('qs');
    const spoken = drain(fill('sqqqs')).hold;
    expect(drain(fill('qqqqs', ROOMY, spoken)).sent).toBe('qqqqs');
  });

  it('never touches a lane that is at live, where one chunk waits at a time', () => {
    let hold = EMPTY_HOLD;
    let sent = '';
    for (const letter of 'sqqqqqqqqqqs') {
      const next = release(trim(fill(letter, ROOMY, hold)));
      if (next === null) continue;
      sent += letterOf(next.chunk);
      hold = next.hold;
    }
    expect(sent).toBe('sqqqqqqqqqqs');
  });
});

describe('a full hold', () => {
  it('gives up the oldest speech, and counts it as lost', () => {
    const hold = fill('sssss', 3);
    expect(hold.chunks.map(({ seq }) => seq)).toEqual([2, 3, 4]);
    expect(hold.accounts).toEqual({ ...NO_ACCOUNTS, captured: 5, dropped: 2, lost: 2 });
  });

  it('counts a dropped pause as dropped, not as lost, and a long one as trimmed', () => {
    const hold = fill('qqqqqqqq', 3);
    expect(hold.accounts).toEqual({ ...NO_ACCOUNTS, captured: 8, dropped: 3, trimmed: 2 });
    expect(fill('mmmm', 3).accounts.lost).toBe(0);
  });

  it('begins the count of a pause anew after speech that it dropped', () => {
    const hold = fill('qqqsqqqqqq', 3);
    expect(hold.accounts.trimmed).toBe(0);
    expect(hold.accounts.dropped).toBe(7);
    expect(hold.accounts.lost).toBe(1);
  });

  it('is full at its capacity and not before', () => {
    expect(show(fill('sss', 3))).toBe('sss');
    expect(fill('sss', 3).accounts.dropped).toBe(0);
    expect(show(fill('sssq', 3))).toBe('ssq');
  });

  it('holds nothing with no room at all', () => {
    expect(fill('ssq', 0).accounts).toEqual({ ...NO_ACCOUNTS, captured: 3, dropped: 3, lost: 2 });
  });
});

describe('chunks that are taken back', () => {
  /** A hold that has sent everything of a story and taken it back. */
  function backOf(story: string, held: string, capacity = ROOMY): Hold {
    let hold = fill(story);
    const sent = [];
    for (let out = release(hold); out !== null; out = release(hold)) {
      sent.push(out.chunk);
      hold = out.hold;
    }
    return takeBack(fill(held, ROOMY, hold), sent, capacity);
  }

  it('are held again in front of everything else, marked as queued', () => {
    const hold = backOf('smq', 'ss');
    expect(hold.chunks.map(letterOf).join('')).toBe('smqss');
    expect(hold.chunks.map(({ queued }) => queued)).toEqual([true, true, true, false, false]);
    expect(hold.accounts).toEqual({ ...NO_ACCOUNTS, captured: 5 });
  });

  it('stay within the bound: the oldest is given up', () => {
    const hold = backOf('ssss', 'ss', 4);
    expect(hold.chunks.map(({ seq }) => seq)).toEqual([2, 3, 4, 5]);
    expect(hold.accounts).toEqual({ ...NO_ACCOUNTS, captured: 6, dropped: 2, lost: 2 });
  });

  it('need no pause before them: the next stream has heard nothing', () => {
    expect(trim(backOf('qqqs', '')).chunks.map(letterOf).join('')).toBe('qs');
  });
});

describe('what is remembered while nobody speaks', () => {
  it('is the latest, and what goes is trimmed', () => {
    let hold = EMPTY_HOLD;
    for (const letter of 'qsqsmq') hold = remember(hold, chunkOf(letter, hold.accounts.captured), 4);
    expect(hold.chunks.map(letterOf).join('')).toBe('qsmq');
    expect(hold.accounts).toEqual({ ...NO_ACCOUNTS, captured: 6, trimmed: 2 });
  });
});

describe('whatever is done to a hold', () => {
  const deed = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('s', 'q', 'q', 'm') },
    { weight: 3, arbitrary: fc.constantFrom('release', 'trim') },
    { weight: 1, arbitrary: fc.constant('discard') },
  );

  it('every chunk is in exactly one account, in order, within the bound', () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (deeds, capacity) => {
        let hold = EMPTY_HOLD;
        let lastReleased = -1;
        for (const what of deeds) {
          if (what === 'release') {
            const next = release(hold);
            if (next === null) continue;
            expect(next.chunk.seq).toBeGreaterThan(lastReleased);
            lastReleased = next.chunk.seq;
            hold = next.hold;
          } else if (what === 'trim') hold = trim(hold);
          else if (what === 'discard') hold = discard(hold);
          else hold = take(hold, chunkOf(what, hold.accounts.captured), capacity);
          expect(isBalanced(hold)).toBe(true);
          expect(hold.chunks.length).toBeLessThanOrEqual(capacity);
        }
      }),
    );
  });

  it('speech is never trimmed, and enough of every pause is left', () => {
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
