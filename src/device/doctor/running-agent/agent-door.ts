/** A socket beside the note of a running agent: programs of the same user, and of root, ask there for a diagnosis. */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import * as z from 'zod';
import { doorName, noteFolder } from '../../../adapters/running-note.ts';
import { parseJson } from '../../../protocol/common/json.ts';
import {
  type CheckName,
  checkNameSchema,
  type Diagnosis,
  diagnosisSchema,
} from '../../../protocol/mqtt/diagnose.ts';
import { noteFolders } from './agent-note.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const questionSchema = z.array(checkNameSchema).min(1).max(32);
const LONGEST_QUESTION = 1000;
const LONGEST_ANSWER = 200_000;
/** Timeout for a question (ms). */
const ASK_WITHIN_MS = 5000;
const MOST_ASKERS = 4;

export interface AgentDoor {
  close(): void;
}

/**
 * If the socket cannot be opened, the doctor merely learns less.
 * @param written resolves when the note is on the disk. Access to a hung disk before that would block one more of Node's few threads.
 */
export function openAgentDoor(
  env: Environment,
  diagnose: (only: readonly CheckName[]) => Promise<Diagnosis>,
  written: Promise<void>,
  pid: number = process.pid,
): AgentDoor {
  const folder = noteFolder(env);
  if (folder === null) return { close() {} };
  const path = join(folder, doorName(pid));
  const server = createServer((socket) => void answer(socket, diagnose));
  server.maxConnections = MOST_ASKERS;
  server.on('error', () => {});
  server.unref();
  let isClosed = false;
  // An earlier process with the same pid may have left a socket.
  void written
    .then(() => rm(path, { force: true }))
    .catch(() => {})
    .then(() => isClosed || server.listen(path));
  return {
    close() {
      isClosed = true;
      server.close();
    },
  };
}

async function answer(
  socket: Socket,
  diagnose: (only: readonly CheckName[]) => Promise<Diagnosis>,
): Promise<void> {
  socket.on('error', () => {});
  try {
    const line = await readAll(
      socket.setTimeout(ASK_WITHIN_MS, () => socket.destroy()),
      LONGEST_QUESTION,
      '\n',
    );
    const question = questionSchema.safeParse(parseJson(line));
    if (!question.success) return;
    socket.setTimeout(0);
    socket.end(JSON.stringify(await diagnose(question.data)));
  } catch {
    // Another diagnosis is running, or the client has disconnected.
  } finally {
    if (!socket.writableEnded) socket.destroy();
  }
}

/** Asks the agent with this process id; null: it does not answer, or this user may not ask. */
export async function askAgent(
  { proc, pid, env }: { readonly proc: string; readonly pid: number; readonly env: Environment },
  only: readonly CheckName[],
  withinMs: number,
): Promise<Diagnosis | null> {
  for (const folder of noteFolders(proc, pid, env)) {
    const socket = connect(join(folder, doorName(pid)));
    try {
      socket.setTimeout(withinMs, () => socket.destroy());
      await once(socket, 'connect');
      socket.write(`${JSON.stringify(only)}\n`);
      const text = await readAll(socket, LONGEST_ANSWER);
      const diagnosis = diagnosisSchema.safeParse(parseJson(text));
      if (diagnosis.success) return diagnosis.data;
    } catch {
      // There is no such socket, or it does not answer in time.
    } finally {
      socket.destroy();
    }
  }
  return null;
}

/** Reads until the text `end`, or until the other side closes. @throws Error if the text is longer than `most` */
async function readAll(socket: Socket, most: number, end?: string): Promise<string> {
  let text = '';
  socket.setEncoding('utf8');
  for await (const part of socket.iterator({ destroyOnReturn: false })) {
    text += String(part);
    if (text.length > most) throw new Error('too long');
    if (end !== undefined && text.includes(end)) break;
  }
  return text;
}
