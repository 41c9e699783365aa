/** The machine beside its sound: what the kernel says of it, its programs, the rights of this user. */

/** Folders where the kernel describes the machine; tests use folders of their own. */
export interface KernelFolders {
  readonly proc: string;
  readonly sys: string;
}

/** The output of a system program. */
export type ProgramAnswer =
  | { readonly ok: true; readonly text: string }
  /** `missing`: it is not installed. Otherwise the text is the program's own message. */
  | { readonly ok: false; readonly missing: boolean; readonly text: string };

export type RunProgram = (program: string, words: readonly string[]) => Promise<ProgramAnswer>;

/** This user's access to the sound cards. */
export interface SoundAccess {
  /** The kernel supports sound (/proc/asound). */
  readonly hasSound: boolean;
  readonly user: string;
  readonly isInAudio: boolean;
  readonly cards: readonly {
    readonly id: string;
    readonly index: number;
    readonly isAllowed: boolean | null;
  }[];
}

/** The machine's parts that the checks read. */
export interface MachineParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly kernel: KernelFolders;
  readonly run: RunProgram;
  soundAccess(): SoundAccess;
}
