import type { Mutant } from './mutant.ts';

/** Bill, ledger, sessions, reports, budgets, webhook. */
export const MUTANTS: readonly Mutant[] = [
  {
    file: 'src/backend/bill/bill.ts',
    from: '{ from: Date.UTC(Number(year), Number(month) - 1), to: Date.UTC(Number(year), Number(month)) }',
    to: '{ from: +new Date(Number(year), Number(month) - 1), to: +new Date(Number(year), Number(month)) }',
    seen: "the first hours of a month stand on the other month's bill, by the zone of the machine",
  },
  {
    file: 'src/backend/bill/bill-csv.ts',
    from: `safe.replaceAll('"', '""')`,
    to: 'safe',
    seen: 'a site with a quote in its name shifts the columns of the spreadsheet',
  },
  {
    file: 'src/backend/bill/bill.ts',
    from: '(now - from) / (to - from)',
    to: '(to - now) / (to - from)',
    seen: 'the forecast falls while the minutes rise',
  },
  {
    file: 'src/backend/bill/bill.ts',
    from: "share >= 1 ? 'over_budget'",
    to: "share > 1 ? 'over_budget'",
    seen: 'a group that has used its whole budget is only near it',
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: 'WHEN told_ms > most_ms THEN most_ms ELSE told_ms END',
    to: 'ELSE told_ms END',
    seen: 'a device that reports a century costs a century',
  },
  {
    file: 'src/backend/watch/webhook.ts',
    from: 'if (!isClosed && queue[0] === next) queue.shift();',
    to: 'if (!isClosed) queue.shift();',
    seen: 'with a full queue, messages to the webhook are lost without a trace',
  },
  {
    file: 'src/backend/watch/webhook.ts',
    from: 'status >= 200 && status < 300',
    to: 'status >= 200 && status < 400',
    seen: 'a webhook that moved gets nothing, and the log says that all was sent',
  },
  {
    file: 'src/backend/bill/bill.ts',
    from: '[...new Set(groups)]',
    to: 'groups.slice(0, 1)',
    seen: 'a kiosk in two groups costs only the first of them anything',
  },
  {
    file: 'src/backend/verbs/bill-verb.ts',
    from: "near_budget: '  WARNING: near the budget',",
    to: "near_budget: '',",
    seen: 'an owner who reads the printed bill sees no warning at 80 % of a budget',
  },
  {
    file: 'src/protocol/bill.ts',
    from: `(at most \${most ?? 'unlimited'} min)`,
    to: `(at most \${most ?? 0} min)`,
    seen: 'sessions without a limit look as if they cost at most 0 minutes',
  },
  {
    file: 'src/backend/verbs/bill-verb.ts',
    from: 'if (options.csv && options.json) throw',
    to: 'if (options.csv && options.json && false) throw',
    seen: 'a script that asks for both forms gets one of them, without a word',
  },
  {
    file: 'src/backend/verbs/bill-verb.ts',
    from: 'await store.close();',
    to: 'void store;',
    seen: 'the bill is printed, and the program does not end',
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: "source = 'device' AND at >= ? THEN ms END) AS told_ms",
    to: "source = 'device' AND ? > 0 THEN ms END) AS told_ms",
    seen: 'what was streamed in the last three days of a month is billed in the next month, too',
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: 'max(CASE WHEN claimed IS NOT NULL AND at >= ? THEN',
    to: 'max(CASE WHEN claimed IS NOT NULL AND ? > 0 THEN',
    seen: "an implausible report of the last month's end stands on this month's bill, too",
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: 'const since = from - REPORTED_WITHIN_MS;',
    to: 'const since = from;',
    seen: "a stream over the month's end costs nothing",
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: 'sum(CASE WHEN is_new = 1 AND told_ms IS NULL THEN 1 ELSE 0 END) AS unreported,',
    to: 'sum(CASE WHEN told_ms IS NULL THEN 1 ELSE 0 END) AS unreported,',
    seen: 'sessions of the last month count as without a report in this one',
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: `
    HAVING sum(is_new) > 0 OR sum(CASE WHEN told_ms IS NOT NULL THEN 1 ELSE 0 END) > 0)`,
    to: ')',
    seen: 'a kiosk that was put away on the last day of a month stands on the next bill with zeros',
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: "max(CASE WHEN source <> 'backend' THEN NULL WHEN ms < ? - at THEN ms ELSE ? - at END) AS most_ms",
    to: "max(CASE WHEN source <> 'backend' THEN NULL WHEN ms > ? - at THEN ms ELSE ? - at END) AS most_ms",
    seen: 'a desk may report more conversations than its streams could hold',
  },
  {
    file: 'src/backend/store/ledger.ts',
    from: `if (known === undefined) return;
`,
    to: `if (known === undefined && reports < 0) return;
`,
    seen: 'at a broker without logins, invented names fill the store and the bill',
  },
  {
    file: 'src/backend/store/sql-store.ts',
    from: 'WHERE device = ? AND (made_at > ? OR over_at IS NULL OR over_at > ?)',
    to: 'WHERE device = ? AND (made_at > ? OR over_at > ?)',
    seen: 'sessions without a limit are forgotten after an hour: a device gets more than it may have at once',
  },
  {
    file: 'src/backend/store/sql-store.ts',
    from: "'DELETE FROM mint WHERE asked_at < ? AND recheck_at IS NULL'",
    to: "'DELETE FROM mint WHERE asked_at < ?'",
    seen: 'a session that a dead backend left at the service is never looked for, and may cost',
  },
  {
    file: 'src/backend/store/sql-store.ts',
    from: 'WHERE told.what <> excluded.what RETURNING',
    to: 'RETURNING',
    seen: 'each backend sends the message that a kiosk is lost',
  },
  {
    file: 'src/backend/store/sql-store.ts',
    from: "await engine.lock(sql, 'unused');",
    to: 'void engine.lock;',
    seen: 'two backends together make more unused sessions than the limit',
  },
  {
    file: 'src/backend/store/migrations.ts',
    from: "await sql.query('DELETE FROM schema_version');",
    to: '',
    seen: 'after the second upgrade the store says its old version, and the next start fails',
  },
  {
    file: 'src/backend/store/rows.ts',
    from: 'const whole = (time: number): number | null => (Number.isFinite(time) ? Math.round(time) : null);',
    to: 'const whole = (time: number): number | null => (Number.isFinite(time) ? Math.round(time) : 0);',
    seen: 'a session without a limit counts as over at once',
  },
  {
    file: 'src/backend/issuing/mint/claim.ts',
    from: 'const diedBefore = died || replaced.some((row) => row.recheckAt !== null);',
    to: 'const diedBefore = died;',
    seen: 'after two deaths a session stays at the service, and costs until its end',
  },
  {
    file: 'src/backend/issuing/mint/claim.ts',
    from: '(own?.recheckAt ?? null)',
    to: 'null',
    seen: 'a session that a dead backend made late is not looked for once the device has repeated its request',
  },
  {
    file: 'src/backend/issuing/mint/claim.ts',
    from: 'sessions: [...leaving, ...settled],',
    to: 'sessions: leaving,',
    seen: 'used sessions count as unused until their window ends, and other lanes are denied',
  },
  {
    file: 'src/backend/issuing/mint/claim.ts',
    from: ".map((session): SessionRow => ({ ...session, isPending: false, state: 'leaving' }));",
    to: ".map((session): SessionRow => ({ ...session, state: 'leaving' }));",
    seen: 'sessions that are being revoked count as unused, and other devices are denied',
  },
  {
    file: 'src/backend/issuing/mint/account-of.ts',
    from: 'row.leaseUntil > now && row.lane !== lane',
    to: 'row.leaseUntil > now',
    seen: 'a request that its backend takes over itself counts twice: the last session of the hour is denied',
  },
  {
    file: 'src/backend/issuing/mint/account-of.ts',
    from: 'const last = usable.at(-1);',
    to: 'const last = usable[0];',
    seen: 'the older of two sessions is ended as unused, the newer one stays and costs',
  },
  {
    file: 'src/backend/issuing/mint/account-of.ts',
    from: "leaving: state === 'leaving',",
    to: 'leaving: false,',
    seen: "a session that is being revoked still takes one of the device's places: a kiosk waits for nothing",
  },
  {
    file: 'src/backend/issuing/mint/device-account.ts',
    from: 'filter((session) => !needed.has(session)).slice(0, excess)',
    to: 'filter((session) => !needed.has(session)).slice(-excess)',
    seen: 'the newest replaced session is revoked, and the one that has been over longest stays',
  },
  {
    file: 'src/backend/issuing/mint/device-account.ts',
    from: "if (name === lane) return reason === 'rollover' ? [settled] : [];",
    to: 'if (name === lane) return [];',
    seen: "at a rollover the session that still speaks is revoked: a visitor's sentence breaks off",
  },
  {
    file: 'src/backend/issuing/mint/device-account.ts',
    from: 'if (Math.abs(now + chosen - end) < APART_MS) chosen = end - APART_MS - now;',
    to: 'if (Math.abs(now + chosen - end) < APART_MS) chosen = end + APART_MS - now;',
    seen: 'a session is made longer than its owner allows',
  },
  {
    file: 'src/backend/issuing/mint/device-account.ts',
    from: 'first + HOUR_MS - now);',
    to: 'first - now);',
    seen: 'a device that has used its hour asks again every 5 s',
  },
  {
    file: 'src/backend/issuing/mint/pending.ts',
    from: `const first = Math.min(
      ...unused`,
    to: `const first = Math.max(
      ...unused`,
    seen: 'a device waits until its last unused session has ended, not the first',
  },
  {
    file: 'src/backend/issuing/mint/pending.ts',
    from: 'const own = unused.length + making.length - replaced.length - retried;',
    to: 'const own = unused.length + making.length - retried;',
    seen: 'a lane that replaces its own unused session is denied',
  },
  {
    file: 'src/backend/issuing/denials.ts',
    from: 'BUSY_RETRY_S * (1 + 2 * draw)',
    to: 'BUSY_RETRY_S * 1',
    seen: 'all kiosks that were denied come back in the same second',
  },
  {
    file: 'src/backend/issuing/job-schedule.ts',
    from: `this.running.delete(job);
    this.forget(job);`,
    to: 'this.forget(job);',
    seen: 'after the first sixteen sessions no kiosk gets one, until the backend is restarted',
  },
  {
    file: 'src/backend/issuing/job-schedule.ts',
    from: '[...this.running].filter(({ rank }) => !isKnown(rank))',
    to: '[...this.running]',
    seen: 'new kiosks get no session while eight others are served',
  },
  {
    file: 'src/backend/issuing/job-results.ts',
    from: `    case 'wait':
      state.schedule.hold(job);`,
    to: "    case 'wait':",
    seen: 'each request that another backend answers takes one place for ever: after sixteen no kiosk gets a session',
  },
  {
    file: 'src/backend/service/service-trouble.ts',
    from: 'until > (this.last?.until ?? now)) this.last',
    to: 'until > now) this.last',
    seen: 'a short pause ends a long one that the service asked for',
  },
  {
    file: 'src/backend/issuing/job-results.ts',
    from: "{ type: 'discard', who: job.ask.who, id: session.id }",
    to: "{ type: 'discard', who: job.ask.who, id: job.claimed }",
    seen: 'a session that no device has heard of stays at the service and costs',
  },
  {
    file: 'src/backend/issuing/answer-sender.ts',
    from: `      // Tokens are never queued or stored at the broker.
      qos: 0,`,
    to: `      // Tokens are never queued or stored at the broker.
      qos: 0,
      retain: true,`,
    seen: 'the broker keeps a token, and gives it to whoever subscribes next',
  },
  {
    file: 'src/backend/issuing/answer-sender.ts',
    from: 'properties: { expiryS: ANSWER_EXPIRY_S, ',
    to: 'properties: { ',
    seen: 'a token waits at a bridge for longer than its device',
  },
  {
    file: 'src/backend/issuing/issuer-runner.ts',
    from: `this.isClosing = true;
    this.cancelWake();`,
    to: 'this.isClosing = true;',
    seen: 'an ending backend still begins sessions that no device hears of',
  },
  {
    file: 'src/backend/issuing/mint-jobs.ts',
    from: `if (gone.length > 0) await change(who, removeSessions(gone));
      return event;`,
    to: 'return event;',
    seen: "a session that was ended unused still takes one of the device's places",
  },
  {
    file: 'src/backend/issuing/mint-jobs.ts',
    from: 'ids.filter((id) => !gone.includes(id)),',
    to: '[],',
    seen: 'a session that could not be revoked is not counted, and costs beside the new one',
  },
  {
    file: 'src/backend/issuing/session-upkeep.ts',
    from: '.filter((session) => session.client_reference_id === wanted.reference && isUnused(session))',
    to: '.filter((session) => isUnused(session))',
    seen: 'at a service that ignores the filter, the sessions of other kiosks are revoked',
  },
  {
    file: 'src/backend/issuing/session-upkeep.ts',
    from: "session.status === 'pending' && !session.first_connected_at && ",
    to: "session.status === 'pending' && ",
    seen: 'a session in use is taken for unused and revoked in the middle of a sentence',
  },
  {
    file: 'src/backend/issuing/reconciler.ts',
    from: 'const RENEW_EVERY_MS = LEASE_MS / 3;',
    to: 'const RENEW_EVERY_MS = LEASE_MS;',
    seen: 'a lease ends while its backend works: two backends make a session each',
  },
  {
    file: 'src/backend/issuing/reconciler.ts',
    from: 'await Promise.all(loops.map((loop) => loop.close()));',
    to: 'await loops[0]?.close();',
    seen: 'a backend that has ended still revokes sessions, and its process stays',
  },
  {
    file: 'src/backend/issuing/request.ts',
    from: `  if (message.retain) return { kind: 'nothing', who, why: 'retained' };
`,
    to: '',
    seen: 'a retained request makes and bills a session at each start of the backend',
  },
  {
    file: 'src/backend/issuing/request.ts',
    from: `responseTopic.startsWith(\`\${own}/\`)`,
    to: 'responseTopic.startsWith(own)',
    seen: "a token goes to a topic beside the device's own, which others may read",
  },
  {
    file: 'src/backend/reports/device-reports.ts',
    from: 'sender === null || message.retain',
    to: 'sender === null',
    seen: 'a retained report counts again at each start of the backend',
  },
  {
    file: 'src/backend/reports/device-reports.ts',
    from: `    const acknowledge = message.hold?.() ?? (() => {});
    if (this.queue.length >= MOST_WAITING) return;`,
    to: `    if (this.queue.length >= MOST_WAITING) return;
    const acknowledge = message.hold?.() ?? (() => {});`,
    seen: 'after a long outage of the store, reports are lost and their streams cost nothing',
  },
  {
    file: 'src/backend/reports/report-queue.ts',
    from: `if (this.isClosing) return;
        await this.wait();`,
    to: 'await this.wait();',
    seen: 'a backend whose store is down does not end',
  },
  {
    file: 'src/backend/reports/odd-reports.ts',
    from: 'for (const [device, count] of due) this.count(device, count);',
    to: '',
    seen: 'implausible reports of a device are forgotten when the store fails once',
  },
  {
    file: 'src/backend/reports/device-reports.ts',
    from: 'qos: 1,',
    to: 'qos: 0,',
    seen: 'reports that arrive while the backend is away are never billed',
  },
  {
    file: 'src/backend/reports/device-reports.ts',
    from: `update(\`\${device}\\n\${payload}\`)`,
    to: 'update(payload)',
    seen: 'two desks whose conversations had the same numbers count as one',
  },
  {
    file: 'src/backend/reports/odd-reports.ts',
    from: 'if (this.isClosing) return;',
    to: '',
    seen: 'a backend that ends while its store is down keeps a timer',
  },
  {
    file: 'src/protocol/mqtt/bounds.ts',
    from: '.max(LONGEST_MS / 1000);',
    to: '.max(LONGEST_MS);',
    seen: 'a stolen login reports a conversation of three thousand years',
  },
  {
    file: 'src/protocol/mqtt/bounds.ts',
    from: 'export const wholeCount = z.int()',
    to: 'export const wholeCount = z.number()',
    seen: 'half a sentence stands in the figures, and PostgreSQL refuses the whole report',
  },
  {
    file: 'src/backend/watch/group-budgets.ts',
    from: `      storeFailed(error);
    }`,
    to: `      storeFailed(error);
      return;
    }`,
    seen: 'one failure of the store, and budgets are never looked at again',
  },
  {
    file: 'src/backend/watch/group-budgets.ts',
    from: `    if (isClosed) return;
`,
    to: '',
    seen: 'an ended backend still asks the store for its budgets',
  },
  {
    file: 'src/backend/watch/group-budgets.ts',
    from: 'Math.max(EVERY_MS, took * REST)',
    to: 'EVERY_MS',
    seen: 'a slow database does nothing but sums of the month',
  },
  {
    file: 'src/backend/watch/watch.ts',
    from: `  if (!budgets.areKnown) return null;
`,
    to: '',
    seen: 'at each restart the owner hears that a group over its budget has recovered',
  },
  {
    file: 'src/device/limits/budget.ts',
    from: 'const carriedMs = today.day === null && day !== null ? today.usedMs : 0;',
    to: 'const carriedMs = 0;',
    seen: "streams before the clock was set cost nothing of the day's budget",
  },
  {
    file: 'src/device/limits/budget.ts',
    from: '[...before, ...others.map(add)].slice(-MOST_DAYS)',
    to: '[...before, ...others.map(add)].slice(0, MOST_DAYS)',
    seen: 'the oldest days are kept, and a restart forgets the newest',
  },
  {
    file: 'src/device/limits/admissions-machine.ts',
    from: 'instantOf(localDay(seen.wall, zone) + 1, 0, zone)',
    to: "instantOf(localDay(seen.wall, zone) + 1, 0, 'UTC')",
    seen: 'the budget of a kiosk in New York begins anew at seven in the evening',
  },
  {
    file: 'src/device/limits/admissions-machine.ts',
    from: 'billedMs: total };',
    to: 'billedMs: given.billedMs + total };',
    seen: 'after a while the streams of the day cost nothing of the budget',
  },
  {
    file: 'src/backend/watch/webhook.ts',
    from: '[1000, 5000, 30_000, 120_000, 600_000]',
    to: '[1000, 5000, 30_000, 60_000, 120_000]',
    seen: 'an outage of the receiver of five minutes loses the message that a kiosk is lost',
  },
  {
    file: 'src/backend/watch/webhook.ts',
    from: `      wake();
      http.close();`,
    to: '      http.close();',
    seen: 'a backend whose receiver is away takes ten minutes to end',
  },
  {
    file: 'src/backend/watch/notices.ts',
    from: `    for (const subject of lastSent.keys()) look(subject);
`,
    to: '',
    seen: 'a trouble that ended while the backend was away is never reported as over',
  },
  {
    file: 'src/backend/watch/notices.ts',
    from: `      if (condition === FINE) lastSent.delete(subject);
      else lastSent.set(subject, condition);`,
    to: '      lastSent.set(subject, before);',
    seen: 'after the first trouble of a kiosk nothing more is reported',
  },
  {
    file: 'src/backend/watch/notices.ts',
    from: `      for (const cancel of looks.values()) cancel();
`,
    to: '',
    seen: 'a notice goes out after the backend has ended',
  },
  {
    file: 'src/backend/watch/notices.ts',
    from: 'if (isNews) tell(',
    to: 'tell(',
    seen: 'each of two backends sends the message that a kiosk is lost',
  },
  {
    file: 'src/backend/watch/fleet-watch.ts',
    from: 'const isBack = !retain && view.heard(',
    to: 'const isBack = view.heard(',
    seen: 'a dead kiosk looks alive for three minutes after each start of the backend',
  },
  {
    file: 'src/backend/watch/fleet-watch.ts',
    from: `      stopLooking();
`,
    to: '',
    seen: 'an ended backend still reports silent kiosks',
  },
  {
    file: 'src/backend/watch/fleet-watch.ts',
    from: `      down(problem, message) {
        listeningSince = null;`,
    to: '      down(problem, message) {',
    seen: 'after an outage of the broker all kiosks are reported as lost',
  },
  {
    file: 'src/backend/watch/backend-metrics.ts',
    from: 'value: (value(line) ?? 0) * 60 }',
    to: 'value: value(line) ?? 0 }',
    seen: 'an alert at the budget of a group comes sixty times too late',
  },
  {
    file: 'src/backend/watch/watch.ts',
    from: `  } catch (error) {
    await close();
    throw error;`,
    to: `  } catch (error) {
    throw error;`,
    seen: "a backend that cannot open its metrics' address does not end",
  },
];
