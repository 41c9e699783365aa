import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../ports/clock.ts';
import { type Connection, createConnection } from './connection.ts';
import type { Effect } from './core/effect.ts';
import type { OutMessage } from './core/outbox.ts';
import type { Service } from './core/service.ts';
import type { ReadFrame } from './message-frame.ts';
import type { RequestLog } from './request-log.ts';
import type { Plumbing } from './reset.ts';
import type { Runtime } from './runtime.ts';

export type StreamEffect = Exclude<Effect, { type: 'render' }>;

export interface StreamConnectionsSetup {
  readonly clock: Clock;
  readonly service: Service;
  readonly getRuntime: () => Runtime;
  readonly plumbing: Plumbing;
  readonly requests: RequestLog;
}

/** The connection of each stream: passes its frames to the service, and carries out the service's effects on it. */
export class StreamConnections {
  private readonly setup: StreamConnectionsSetup;
  private readonly connections = new Map<string, Connection>();
  /** Effects on a stream during its opening, before it has a connection. */
  private early: StreamEffect[] | null = null;

  constructor(setup: StreamConnectionsSetup) {
    this.setup = setup;
  }

  /** Opens a stream, and collects the effects on it until it has a connection. */
  collect<T>(open: () => T): { result: T; waiting: readonly StreamEffect[] } {
    const waiting: StreamEffect[] = [];
    this.early = waiting;
    const result = open();
    this.early = null;
    return { result, waiting };
  }

  /** Connects a stream with its socket. @param raw the connection below the WebSocket */
  attach(stream: string, socket: WebSocket, raw: Duplex, waiting: readonly StreamEffect[]): void {
    const { clock, service, plumbing } = this.setup;
    const events = {
      frame: (frame: ReadFrame) => this.receive(stream, frame),
      gone: (code: number, reason: string, by: 'client' | 'network') => this.lose(stream, code, reason, by),
    };
    const connection = createConnection(socket, raw, clock, service.choices, events, plumbing.reset);
    this.connections.set(stream, connection);
    for (const effect of waiting) this.perform(effect);
  }

  perform(effect: StreamEffect): void {
    const connection = this.connections.get(effect.stream);
    if (connection === undefined) return void this.early?.push(effect);
    switch (effect.type) {
      case 'send':
        this.noteMessage(effect.stream, effect.message);
        return connection.send(effect.message);
      case 'sendRaw':
        return connection.sendRaw(effect.payload, effect.as);
      case 'link':
        return connection.setLink(effect.link);
      case 'close':
        this.connections.delete(effect.stream);
        this.noteClose(effect.stream, effect.code, `${effect.reason}, by the service`);
        return connection.close(effect.code, effect.reason);
      case 'reset':
        this.connections.delete(effect.stream);
        return connection.reset();
      default:
        return effect satisfies never;
    }
  }

  private receive(stream: string, frame: ReadFrame): void {
    const { service, getRuntime } = this.setup;
    getRuntime().act((now) => {
      if (frame.kind === 'audio') service.hear(stream, frame.pcm, frame.chars, now);
      else if (frame.kind === 'message') service.receive(stream, frame.json, now);
      else service.receiveJunk(stream, frame.why, now);
    });
  }

  private lose(stream: string, code: number, reason: string, by: 'client' | 'network'): void {
    const { service, getRuntime } = this.setup;
    const detail = reason === '' ? `by the ${by}` : `${reason}, by the ${by}`;
    if (this.connections.delete(stream)) this.noteClose(stream, code, detail);
    getRuntime().act((now) => service.disconnected(stream, code, reason, by, now));
  }

  private noteClose(stream: string, status: number, detail: string): void {
    this.setup.requests.note({ kind: 'close', stream, status, detail });
  }

  private noteMessage(stream: string, { type, data }: OutMessage): void {
    if (type !== 'error' && type !== 'warning') return;
    const { code, desc, message, param } = data;
    const where = typeof param === 'string' ? `${param}: ` : '';
    const detail = `${where}${desc ?? message ?? ''}`;
    this.setup.requests.note({ kind: 'message', stream, reason: String(code), detail });
  }
}
