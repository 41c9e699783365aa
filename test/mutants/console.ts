import type { Mutant } from './mutant.ts';

/** The owner's console: rights, sign-in, audit, jobs, documents. */
export const MUTANTS: readonly Mutant[] = [
  {
    file: 'src/backend/console/desired.ts',
    from: 'retain: true',
    to: 'retain: false',
    seen: 'a kiosk that is away never gets the configuration',
  },
  {
    file: 'src/protocol/console-routes.ts',
    from: "'POST /api/jobs/:id/stop': 'operator'",
    to: "'POST /api/jobs/:id/stop': 'viewer'",
    seen: 'a viewer stops the jobs of operators',
  },
  {
    file: 'src/protocol/console-routes.ts',
    from: "'GET /api/audit': 'administrator'",
    to: "'GET /api/audit': 'operator'",
    seen: 'an operator reads who did what, from which address',
  },
  {
    file: 'src/backend/core/console/login-limits.ts',
    from: '.slice(0, 4)',
    to: '.slice(0, 8)',
    seen: 'a guesser with a home connection of IPv6 has as many attempts as it wants',
  },
  {
    file: 'src/backend/core/console/login-limits.ts',
    from: 'failures.delete(nameKey);',
    to: 'failures.delete(nameKey);\n  failures.delete(addressKey);',
    seen: 'one right password between them lets a guesser go on for ever',
  },
  {
    file: 'src/backend/console/sign-in.ts',
    from: 'noteAttempt(failures, name, address, clock.now());\n    const person = await store.person(name);',
    to: 'const person = await store.person(name);\n    noteAttempt(failures, name, address, clock.now());',
    seen: 'forty guesses at the same time all pass the limit',
  },
  {
    file: 'src/backend/console/sign-in.ts',
    from: 'store.useSession(key, IDLE_MS, false)',
    to: 'store.useSession(key, IDLE_MS)',
    seen: 'an open page without a person keeps its session for a week',
  },
  {
    file: 'src/backend/console/sign-in.ts',
    from: 'await store.endSession(key);',
    to: '',
    seen: 'a stolen cookie stays valid after its owner has signed out',
  },
  {
    file: 'src/backend/console/routes-people.ts',
    from: 'to: to === undefined ? undefined : Date.parse(to) + DAY_MS',
    to: 'to: to === undefined ? undefined : Date.parse(to)',
    seen: 'the last day of the audit is missing',
  },
  {
    file: 'src/backend/console/routes-figures.ts',
    from: '[Date.parse(from), Date.parse(to) + DAY_MS]',
    to: '[Date.parse(from), Date.parse(to)]',
    seen: 'the last day of the conversations is missing',
  },
  {
    file: 'src/backend/console/jobs.ts',
    from: 'const due = new Set([...open, ...unsaved]);',
    to: 'const due = new Set(unsaved);',
    seen: 'two backends take a job from each other while its devices have not answered',
  },
  {
    file: 'src/backend/store/console-jobs.ts',
    from: 'WHERE ended_at IS NULL AND lease_until < ?',
    to: 'WHERE ended_at IS NULL AND lease_until >= ?',
    seen: 'a backend takes the job of a living one, and leaves that of a dead one',
  },
];
