import type { AgentHealth, Release, UpdateOrder, UpdateStatus } from '../protocol/common/update.ts';

/**
 * The updater's folder. Paths are relative to it, and each call is one disk operation, so that a test can cut the
 * power after any of them. Failures are an `UpdateTrouble`.
 */
export interface UpdateFiles {
  /** Null: there is no such file. */
  read(path: string): Promise<string | null>;
  /** Names in a folder; none if there is no such folder. */
  list(folder: string): Promise<readonly string[]>;
  /** Null: there is no such link. */
  readLink(path: string): Promise<string | null>;
  makeFolder(path: string): Promise<void>;
  write(path: string, text: string): Promise<void>;
  link(target: string, path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a path and everything below it; does nothing if it does not exist. */
  remove(path: string): Promise<void>;
  /** Makes a file's content, or the names in a folder, survive a power cut. "" is the updater's folder itself. */
  sync(path: string): Promise<void>;
  /** `sync` for everything below a folder. */
  syncAll(folder: string): Promise<void>;
  /** Free disk space (bytes). */
  free(): Promise<number>;
}

/** A package in the repository. */
export interface Offer {
  readonly name: string;
  readonly version: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
}

/** The signed apt repository and its packages. Failures are an `UpdateTrouble`. */
export interface Repository {
  /** Reads the signed package list. @param manifestUrl null: uses the device's own list of sources */
  refresh(manifestUrl: string | null): Promise<void>;
  /** Null: the repository does not have it. */
  find(name: string, version: string): Promise<Offer | null>;
  /** Downloads a package, checks it, and unpacks it into a folder of `UpdateFiles`. @param downloaded called before it is unpacked */
  fetch(offer: Offer, folder: string, downloaded: () => Promise<void>): Promise<void>;
}

/** Reads the content of an unpacked release. */
export interface Releases {
  /** The release in a folder of `UpdateFiles`, if all of its files match its list of checksums; null: it is damaged. */
  read(folder: string): Promise<Release | null>;
}

/** The agent's unit after a switch, seen from outside. */
export interface Sighting extends AgentHealth {
  /** Automatic restarts since the first sighting after a restart by the updater. */
  readonly restarts: number;
  /** Why the agent cannot use the configuration; null: it can, or does not say. */
  readonly problem: string | null;
  /** Whether the agent has written its note. */
  readonly reports: boolean;
  /** Whether the machine has a network. */
  readonly network: boolean;
}

/** The agent's systemd unit, as systemd and the kernel report it. Never throws. */
export interface AgentUnit {
  look(): Promise<Sighting>;
  /** Ends the agent, so that systemd starts the linked version. The agent finishes its sentence first. */
  restart(): Promise<void>;
}

/** The agent's orders to the updater, and the updater's status. */
export interface OrderFiles {
  /** The waiting order; null: none. An order that cannot be read is removed. */
  order(): Promise<UpdateOrder | null>;
  /** Removes the waiting order, if it is this one. */
  took(id: string): Promise<void>;
  /** Discards the agent's report of a good moment: the agent must report again. */
  forgetMoment(): Promise<void>;
  /** Whether the agent says that a restart interrupts no speech or conversation. */
  isGoodMoment(id: string): Promise<boolean>;
  publish(status: UpdateStatus): Promise<void>;
  /** Makes the launcher ignore the link until the machine starts again. */
  avoidLink(): Promise<void>;
}

/** Why an update cannot continue. */
export class UpdateTrouble extends Error {
  /** Whether the trouble may resolve itself, such as a missing network. */
  readonly mayPass: boolean;

  /** @param message a sentence for people, without a capital first letter and without a full stop */
  constructor(message: string, mayPass = false) {
    super(message);
    this.mayPass = mayPass;
  }
}
