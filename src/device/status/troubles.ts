/** Reports faults of the device's files at run time, and when they are resolved. */
import { redactText } from '../../adapters/redaction.ts';
import type { EventDetail } from '../../protocol/mqtt/event.ts';
import type { Publisher } from './publisher.ts';

/** Maximum number of problems in one event; the log and `check-config` have all of them. */
const MOST_PROBLEMS = 10;
const LONGEST_PROBLEM = 300;
const LONGEST_KEY = 120;

/** The state files that outlive a restart, each by the first part of its name. */
export type KeptFile = EventDetail<'disk_problem'>['what'];

export interface ConfigProblem {
  /** The wrong key; empty if the fault concerns no key. */
  readonly key: string;
  /** Names key, place and fix, but no secrets. */
  readonly message: string;
}

export interface Troubles {
  /** The problems found when the configuration was read again; none: the configuration is in force. */
  reread(problems: readonly ConfigProblem[]): void;
  /** The problems of configured files that a connection needed and could not read. */
  needed(problems: readonly ConfigProblem[]): void;
  /** Returns the callback for one state file. It takes a reason when a write fails, and null when writes work again. */
  kept(what: KeptFile): (problem: string | null) => void;
}

export function createTroubles(publisher: Pick<Publisher, 'tell' | 'condition'>): Troubles {
  let refused: readonly ConfigProblem[] = [];
  let unreadable: readonly ConfigProblem[] = [];
  const unkept = new Set<KeptFile>();

  const judge = (isOver: boolean): void => {
    const all = [...refused, ...unreadable];
    const [first] = all;
    publisher.condition(
      'config_problem',
      first !== undefined,
      first?.key ? cut(first.key, LONGEST_KEY) : null,
    );
    if (first === undefined && isOver) publisher.tell('config_problem_over', { lane: null });
  };
  const tellProblems = (problems: readonly ConfigProblem[]): void => {
    const shown = problems.slice(0, MOST_PROBLEMS).map(({ message }) => cut(message, LONGEST_PROBLEM));
    publisher.tell('config_problem', { lane: null, problems: shown, more: problems.length - shown.length });
  };

  return {
    reread(problems) {
      const isOver = refused.length + unreadable.length > 0;
      refused = problems;
      // A file that is still unreadable is among `problems`, or is reported again at the next connection.
      unreadable = [];
      if (problems.length > 0) tellProblems(problems);
      judge(isOver);
    },
    needed(problems) {
      const before = unreadable;
      unreadable = problems;
      const news = problems.filter(({ message }) => !before.some((one) => one.message === message));
      if (news.length > 0) tellProblems(news);
      judge(before.length > 0);
    },
    kept: (what) => (problem) => {
      if (problem === null ? !unkept.delete(what) : unkept.has(what)) return;
      if (problem === null) publisher.tell('disk_problem_over', { lane: null, what });
      else {
        unkept.add(what);
        publisher.tell('disk_problem', { lane: null, what, message: cut(problem, LONGEST_PROBLEM) });
      }
      publisher.condition('disk_problem', unkept.size > 0, [...unkept].sort());
    },
  };
}

/** Shortens and redacts a text: a configuration may hold confidential text anywhere. */
function cut(text: string, longest: number): string {
  const isCut = text.length > longest;
  const safe = redactText(isCut ? text.slice(0, longest) : text, isCut);
  return isCut ? `${safe}...` : safe;
}
