import { type Defects, nameOf } from '../../machine/defects.ts';
import {
  NO_CONNECTION,
  type OpenStream,
  type StreamConnection,
  type StreamListener,
} from '../../ports/stream.ts';

/**
 * Streams that never throw. An exception ends the connection and is reported as `broke`; later callbacks are ignored.
 * The error's own text is removed, even from the log: it may contain the address with the token.
 */
export function guardStreams(openStream: OpenStream, defects: Defects): OpenStream {
  return (target, listener) => {
    let isOver = false;
    const fail = (where: string, error: unknown): void => {
      defects(`stream.${where}`, withoutText(error));
      if (isOver) return;
      isOver = true;
      listener.broke('agent', `a defect of the program ended the stream (${where}: ${nameOf(error)})`);
    };
    let connection = NO_CONNECTION;
    try {
      connection = openStream(
        target,
        gated(listener, () => !isOver),
      );
    } catch (error) {
      fail('open', error);
      return NO_CONNECTION;
    }
    const call = (where: string, act: () => void): void => {
      if (isOver) return;
      try {
        act();
      } catch (error) {
        terminate(connection);
        fail(where, error);
      }
    };
    /** From now on callbacks are ignored, even if ending the connection fails. */
    const end = (how: 'close' | 'terminate'): void => {
      if (isOver) return;
      isOver = true;
      try {
        connection[how]();
      } catch (error) {
        defects(`stream.${how}`, withoutText(error));
        terminate(connection);
      }
    };
    return {
      runTask: (task) => call('runTask', () => connection.runTask(task)),
      askForTask: () => call('askForTask', () => connection.askForTask()),
      sendAudio: (pcm) => call('sendAudio', () => connection.sendAudio(pcm)),
      say: (...speech) => call('say', () => connection.say(...speech)),
      end: () => call('end', () => connection.end()),
      ping: () => call('ping', () => connection.ping()),
      close: () => end('close'),
      terminate: () => end('terminate'),
      get bufferedBytes() {
        let bytes = 0;
        call('bufferedBytes', () => {
          bytes = connection.bufferedBytes;
        });
        return bytes;
      },
    };
  };
}

/** Releases as much of the connection as possible. */
function terminate(connection: StreamConnection): void {
  try {
    connection.terminate();
  } catch {
    // The first exception was reported already.
  }
}

function withoutText(error: unknown): Error {
  const bare = new Error(nameOf(error));
  bare.name = nameOf(error).split(' ')[0] ?? bare.name;
  // The stack frames show the place; the first line may contain the address.
  const frames =
    error instanceof Error ? error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  bare.stack = [nameOf(error), ...(frames ?? [])].join('\n');
  return bare;
}

function gated(listener: StreamListener, isHeard: () => boolean): StreamListener {
  return {
    opened: () => isHeard() && listener.opened(),
    said: (event) => isHeard() && listener.said(event),
    unreached: (...why) => isHeard() && listener.unreached(...why),
    broke: (fault, message) => isHeard() && listener.broke(fault, message),
    oddity: (description) => isHeard() && listener.oddity(description),
    unreadable: (what, description) => isHeard() && listener.unreadable(what, description),
    pong: () => isHeard() && listener.pong(),
    drained: () => isHeard() && listener.drained(),
  };
}
