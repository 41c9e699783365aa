import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import * as z from 'zod';
import { changeChoices, showChoices } from './core/choices.ts';
import { parseFaults } from './core/fault.ts';
import { refuse } from './core/refusal.ts';
import { type AppSetup, type HttpContext, readJson, reply } from './http-exchange.ts';
import { PAGE, PAGE_POLICY } from './page.ts';
import type {
  clockAnswerSchema,
  faultsAnswerSchema,
  metricsAnswerSchema,
  streamsAnswerSchema,
} from './reports.ts';
import { addToolRoutes } from './tool-routes.ts';

type App = Hono<{ Bindings: HttpBindings }>;

/** Longest single advance of the service's time (ms): a month. */
const MOST_ADVANCE_MS = 31 * 86_400_000;

/** Maximum number of closed streams that `GET /emulator/streams?closed=` adds to the running ones. */
const MOST_CLOSED_SHOWN = 50;

const clockSchema = z.strictObject({
  advance_ms: z.number().min(0).max(MOST_ADVANCE_MS).optional(),
  advance_s: z
    .number()
    .min(0)
    .max(MOST_ADVANCE_MS / 1000)
    .optional(),
  skew_ms: z.number().min(-3.2e12).max(3.2e12).optional(),
});

const accountSchema = z.enum(['ok', 'out_of_balance', 'blocked']).optional();

function isLoopback(address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:/, '') ?? '';
  return plain === '::1' || plain.startsWith('127.');
}

/** `/emulator/*`: faults, the clock, settings and measurements, only for clients on this machine. */
export function addSteeringRoutes(app: App, setup: AppSetup): void {
  const runtime = (): ReturnType<AppSetup['getRuntime']> => setup.getRuntime();
  const bad = (context: HttpContext, issues: readonly string[]): Response =>
    reply(context, refuse('validation_error', setup.nextInstance(), issues));

  app.use('/emulator/*', async (context, next) => {
    if (!isLoopback(context.env.incoming.socket.remoteAddress)) {
      return reply(context, refuse('forbidden', setup.nextInstance(), ['only from this machine']));
    }
    return next();
  });

  app.get('/emulator', (context) =>
    isLoopback(context.env.incoming.socket.remoteAddress)
      ? context.html(PAGE, 200, { 'Content-Security-Policy': PAGE_POLICY })
      : reply(context, refuse('forbidden', setup.nextInstance(), ['only from this machine'])),
  );

  addToolRoutes(app, setup);

  app.get('/emulator/streams', (context) => {
    const reports = runtime().act((now) => service().reports(now));
    const closed = Math.min(MOST_CLOSED_SHOWN, Number(context.req.query('closed') ?? 0) || 0);
    const over = reports.filter((report) => report.phase === 'closed');
    const running = reports.filter((report) => report.phase !== 'closed');
    const shown = [...over.slice(over.length - closed), ...running];
    return context.json({ streams: shown, closed: over.length } satisfies z.infer<
      typeof streamsAnswerSchema
    >);
  });

  app.get('/emulator/metrics', (context) => {
    const { service } = runtime();
    const streams = runtime().act((now) => service.reports(now));
    const sessions = {
      known: service.sessions.size,
      pending: service.sessions.countPending(service.clockAt(runtime().now())),
    };
    const { detector } = setup;
    const answer: z.infer<typeof metricsAnswerSchema> = {
      streams,
      sessions,
      load: runtime().load(),
      detector,
    };
    return context.json(answer);
  });

  const faults = (now: number): z.infer<typeof faultsAnswerSchema> => {
    const { faults: registry, account } = service();
    return {
      waiting: registry.plan.list(now),
      ordered: registry.ordered(),
      lasting: {
        streams: service().strained(now),
        skew_ms: registry.skewMs,
        account: accountWord(account.trouble(now)),
      },
    };
  };
  app.get('/emulator/faults', (context) => context.json(runtime().act(faults)));

  app.delete('/emulator/faults/:id', (context) => {
    const id = context.req.param('id');
    const isRemoved = runtime().act(() => /^\d{1,9}$/.test(id) && service().faults.remove(Number(id)));
    if (isRemoved) return context.body(null, 204);
    const detail = `no fault ${/^\d{1,9}$/.test(id) ? id : 'of this id'} is waiting; GET /emulator/faults lists them`;
    return reply(context, refuse('not_found', setup.nextInstance(), [detail]));
  });

  app.delete('/emulator/faults', (context) => {
    runtime().act((now) => service().faults.perform({ kind: 'clear' }, now));
    return context.body(null, 204);
  });

  app.post('/emulator/faults', async (context) => {
    const body = await readJson(context, setup.nextInstance());
    if (!body.ok) return reply(context, body.answer);
    const parsed = parseFaults(body.json);
    if (!parsed.ok) return bad(context, parsed.issues);
    const added = runtime().act((now) => service().order(parsed.request, now));
    if ('ids' in added) return context.json({ ok: true, ids: added.ids }, 202);
    const reason = added.unknownStream === true ? 'not_found' : 'validation_error';
    return reply(context, refuse(reason, setup.nextInstance(), [added.problem]));
  });

  const clock = (): z.infer<typeof clockAnswerSchema> => {
    const at = service().clockAt(runtime().now());
    return { now: new Date(at).toISOString(), skew_ms: service().faults.skewMs };
  };
  app.get('/emulator/clock', (context) => context.json(clock()));
  app.post('/emulator/clock', async (context) => {
    const body = await readJson(context, setup.nextInstance());
    if (!body.ok) return reply(context, body.answer);
    const parsed = clockSchema.safeParse(body.json);
    if (!parsed.success) return bad(context, issuesOf(parsed.error));
    const { advance_ms, advance_s, skew_ms } = parsed.data;
    if (skew_ms !== undefined)
      runtime().act((now) => service().faults.perform({ kind: 'clock_skew', ms: skew_ms }, now));
    await runtime().advance((advance_ms ?? 0) + (advance_s ?? 0) * 1000);
    return context.json(clock());
  });

  const service = () => runtime().service;
  const settings = (): object => ({
    ...showChoices(service().choices),
    account: accountWord(service().account.trouble(runtime().now())),
  });
  app.get('/emulator/settings', (context) => context.json(settings()));
  app.post('/emulator/settings', async (context) => {
    const body = await readJson(context, setup.nextInstance());
    if (!body.ok) return reply(context, body.answer);
    if (typeof body.json !== 'object' || body.json === null) return bad(context, ['body: must be an object']);
    const { account, ...changes } = body.json as Record<string, unknown>;
    const condition = accountSchema.safeParse(account);
    if (!condition.success) return bad(context, ['account: must be ok, out_of_balance or blocked']);
    const problems = changeChoices(service().choices, changes);
    if (problems.length > 0) return bad(context, problems);
    runtime().act((now) => setAccount(condition.data, now));
    return context.json(settings());
  });

  const setAccount = (condition: z.infer<typeof accountSchema>, now: number): void => {
    if (condition === undefined) return;
    service().account.clear();
    if (condition === 'out_of_balance') service().account.exhaust(now, undefined);
    if (condition === 'blocked') service().account.block(now, undefined);
  };
}

function accountWord(trouble: string | null): 'ok' | 'blocked' | 'out_of_balance' {
  if (trouble === null) return 'ok';
  return trouble === 'account_blocked' ? 'blocked' : 'out_of_balance';
}

function issuesOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`);
}
