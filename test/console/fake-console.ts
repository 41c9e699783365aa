import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { consolePage } from '../../src/adapters/console/console-files.ts';
import { PAGE_HEADERS } from '../../src/adapters/screen/page.ts';
import type { DeviceDetail } from '../../src/protocol/console-device.ts';
import type {
  FleetCall,
  FleetCounts,
  FleetFilter,
  FleetRow,
  FleetStatus,
  FleetView,
  FleetWindow,
} from '../../src/protocol/console-fleet.ts';
import { FLEET_STATUSES, fleetViewSchema } from '../../src/protocol/console-fleet.ts';
import type { Job, JobDevice } from '../../src/protocol/console-jobs.ts';
import type { ConsoleRole } from '../../src/protocol/console-routes.ts';
import type { StreamDiff, StreamSnapshot } from '../../src/protocol/console-stream.ts';
import { answerOwner, type FakeAnswer } from './fake-owner.ts';
import { detailFor } from './fleet-fixtures.ts';

export interface FakeOptions {
  readonly files: Readonly<Record<string, string>>;
  readonly rows?: readonly FleetRow[];
  readonly role?: ConsoleRole;
  readonly isSignedIn?: boolean;
}

interface Reader {
  readonly response: ServerResponse;
  readonly name: string;
  seq: number;
  view: FleetView;
  device: string | null;
}

/** A console server of the tests: it answers what the test wants, and sends what the test sends. */
export class FakeConsole {
  readonly rows = new Map<string, FleetRow>();
  readonly details = new Map<string, DeviceDetail>();
  readonly jobs: Job[] = [];
  readonly jobDevices = new Map<string, JobDevice[]>();
  /** `POST /api/commands` and the like, as they came. */
  readonly asked: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  /** Answers by `POST /api/...`, instead of the usual ones. */
  readonly answers = new Map<string, FakeAnswer>();
  role: ConsoleRole;
  isSignedIn: boolean;
  streams = 0;
  /** A proxy that lets nothing of a stream through. */
  isHeld = false;
  /** Snapshots that were asked for without a stream. */
  asks = 0;
  snapshots = 0;
  private readonly files: Readonly<Record<string, string>>;
  private readonly readers = new Set<Reader>();
  private server: Server | null = null;
  private port = 0;

  constructor({ files, rows = [], role = 'administrator', isSignedIn = true }: FakeOptions) {
    this.files = files;
    this.role = role;
    this.isSignedIn = isSignedIn;
    for (const row of rows) this.rows.set(row.device, row);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => void this.serve(request, response));
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async close(): Promise<void> {
    this.readers.clear();
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  /** The session ends, as at its expiry. */
  endSession(): void {
    this.isSignedIn = false;
    for (const { response } of this.readers) response.end('event: end\ndata: {"code":"signed_out"}\n\n');
    this.readers.clear();
  }

  change(row: FleetRow): void {
    this.rows.set(row.device, row);
    for (const reader of this.readers) {
      const window = this.windowOf(reader.view);
      const isShown = window.rows.some(({ device }) => device === row.device);
      this.send(reader, {
        counts: this.counts(),
        calls: this.calls(),
        total: window.total,
        order: window.rows.map(({ device }) => device),
        ...(isShown && { rows: [row] }),
      });
    }
  }

  /** Streams that are open now. */
  get openStreams(): number {
    return this.readers.size;
  }

  /** A difference for all readers. */
  sendAll(diff: Omit<StreamDiff, 'seq'>): void {
    for (const reader of this.readers) this.send(reader, diff);
  }

  private send(reader: Reader, diff: Omit<StreamDiff, 'seq'>): void {
    reader.seq += 1;
    reader.response.write(`event: diff\ndata: ${JSON.stringify({ seq: reader.seq, ...diff })}\n\n`);
  }

  /** The next difference of each reader is lost. */
  skip(): void {
    for (const reader of this.readers) reader.seq += 1;
  }

  private calls(): FleetCall[] {
    return [...this.rows.values()].flatMap(({ device, site, call }) =>
      call === null ? [] : [{ device, site, since: call.since, isLate: call.isLate }],
    );
  }

  private counts(): FleetCounts {
    const rows = [...this.rows.values()];
    const byStatus = Object.fromEntries(
      FLEET_STATUSES.map((status) => [status, rows.filter((row) => row.status === status).length]),
    ) as Record<FleetStatus, number>;
    return { total: rows.length, problems: rows.filter(({ isProblem }) => isProblem).length, byStatus };
  }

  private windowOf({ filter, first, last, sort }: FleetView): FleetWindow {
    const found = [...this.rows.values()].filter((row) => admits(filter, row));
    const severity = ({ isProblem, status }: FleetRow): number => (isProblem ? 0 : status === 'idle' ? 2 : 1);
    found.sort(
      (one, other) =>
        (sort === 'problems' ? severity(one) - severity(other) : 0) || (one.device < other.device ? -1 : 1),
    );
    return { number: 0, total: found.length, first, rows: found.slice(first, last) };
  }

  private detailOf(device: string | null): DeviceDetail | null {
    const row = this.rows.get(device ?? '');
    return row === undefined ? null : (this.details.get(row.device) ?? detailFor(row));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
    if (!url.pathname.startsWith('/api/')) return this.servePage(url.pathname, response);
    const key = `${request.method} ${url.pathname}`;
    if (key === 'GET /api/stream' && this.isSignedIn) return this.stream(url, response);
    const body = JSON.parse((await textOf(request)) || '{}') as Record<string, unknown>;
    const answer = this.answers.get(key) ?? this.answer(key, url, body);
    if (request.method === 'POST') this.asked.push({ path: url.pathname, body });
    if ('problem' in answer) response.writeHead(answer.status).end(JSON.stringify({ error: answer.problem }));
    else response.end(JSON.stringify(answer.value));
  }

  private servePage(path: string, response: ServerResponse): void {
    const [, folder = '', name = ''] = path.split('/');
    const text = folder === 'assets' ? this.files[name] : consolePage();
    const type = folder === 'assets' ? (name.endsWith('.css') ? 'text/css' : 'text/javascript') : 'text/html';
    response
      .writeHead(text === undefined ? 404 : 200, { 'Content-Type': `${type}; charset=utf-8` })
      .end(text);
  }

  private stream(url: URL, response: ServerResponse): void {
    this.streams += 1;
    const view = fleetViewSchema.parse(JSON.parse(url.searchParams.get('view') ?? '{}'));
    const reader: Reader = {
      response,
      name: `stream-${this.streams}`,
      seq: 0,
      view,
      device: url.searchParams.get('device'),
    };
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.on('close', () => this.readers.delete(reader));
    if (this.isHeld) return response.flushHeaders();
    this.readers.add(reader);
    this.snapshots += 1;
    response.write(`event: snapshot\ndata: ${JSON.stringify(this.snapshotOf(reader))}\n\n`);
  }

  private snapshotOf({ name, view, device }: Pick<Reader, 'name' | 'view' | 'device'>): StreamSnapshot {
    return {
      seq: 0,
      stream: name,
      broker: 'connected',
      counts: this.counts(),
      calls: this.calls(),
      facets: {
        tenants: ['museum'],
        sites: ['Central station', 'Harbour', 'Old town'],
        versions: ['0.9.0', '1.0.0'],
        groups: [
          { name: 'counter', devices: 20, problems: 1 },
          { name: 'lobby', devices: 20, problems: 0 },
        ],
      },
      window: this.windowOf(view),
      device: this.detailOf(device),
      jobs: this.jobs,
    };
  }

  private answer(key: string, url: URL, body: Record<string, unknown>): FakeAnswer {
    const me = { name: 'anna', role: this.role, expiresAt: '2026-11-28T08:00:00.000Z' };
    if (key === 'POST /api/sign-in') {
      if (body['password'] !== 'right horse battery')
        return { status: 401, problem: { code: 'wrong', message: 'The name or the password is wrong.' } };
      this.isSignedIn = true;
      return { value: me };
    }
    if (!this.isSignedIn) return { status: 401, problem: { code: 'signed_out', message: 'Sign in first.' } };
    if (key === 'GET /api/me' || key === 'POST /api/me/password') return { value: me };
    if (key === 'POST /api/sign-out') {
      this.isSignedIn = false;
      return { value: {} };
    }
    if (key === 'POST /api/stream/view') return this.changeView(body);
    if (key === 'GET /api/snapshot') {
      this.asks += 1;
      const view = fleetViewSchema.parse(JSON.parse(url.searchParams.get('view') ?? '{}'));
      return { value: this.snapshotOf({ name: '', view, device: url.searchParams.get('device') }) };
    }
    const [, tenant, device, rest] = /^GET \/api\/devices\/([^/]+)\/([^/]+)$/.exec(key) ?? [];
    if (tenant !== undefined && rest === undefined) {
      const detail = this.detailOf(`${tenant}/${device}`);
      return detail === null
        ? { status: 404, problem: { code: 'not_found', message: 'There is no such device.' } }
        : { value: detail };
    }
    return answerOwner(this, key, url, body);
  }

  private changeView(body: Record<string, unknown>): FakeAnswer {
    const reader = [...this.readers].find(({ name }) => name === body['stream']);
    if (reader === undefined)
      return { status: 404, problem: { code: 'not_found', message: 'There is no such stream.' } };
    reader.view = fleetViewSchema.parse(body['view']);
    const isOther = reader.device !== body['device'];
    reader.device = (body['device'] as string | null) ?? null;
    this.send(reader, {
      window: this.windowOf(reader.view),
      ...(isOther && { device: this.detailOf(reader.device) }),
    });
    return { value: {} };
  }
}

function admits({ q = '', status, problem, group, site, version }: FleetFilter, row: FleetRow): boolean {
  const text = `${row.device} ${row.reasons.join(' ')} ${row.site} ${row.version}`.toLowerCase();
  return (
    q
      .toLowerCase()
      .split(' ')
      .every((word) => text.includes(word)) &&
    (status === undefined || status.includes(row.status)) &&
    (problem !== true || row.isProblem) &&
    (group === undefined || row.groups.includes(group)) &&
    (site === undefined || row.site === site) &&
    (version === undefined || row.version === version)
  );
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
