import type { Steps } from '../steps.ts';
import type { Run } from './child-programs.ts';
import type { Options } from './image-options.ts';

export interface Job {
  readonly options: Options;
  /** The folder of the repository. */
  readonly sources: string;
  /** An empty folder for temporary files. */
  readonly draft: string;
  readonly run: Run;
  readonly steps: Steps;
}
