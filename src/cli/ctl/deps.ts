import type { OperatorAccess } from '../../adapters/ctl/profile.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Shell } from '../../program/program.ts';
import type { OperatorTopics } from '../../protocol/mqtt/topics.ts';
import type { Target } from './target.ts';
import type { Reading } from './verbs.ts';

/** Dependencies of each task. */
export interface CtlDeps {
  readonly shell: Shell;
  readonly access: OperatorAccess;
  readonly topics: OperatorTopics;
  readonly clock: Clock;
  readonly target: Target;
  readonly options: Reading['options'];
  readonly timeoutS: number;
  /** A new id for each command. */
  newId(): string;
}
