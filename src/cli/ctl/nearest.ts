import { suggestName } from '../../adapters/config/known-keys.ts';
import type { CtlDeps } from './deps.ts';
import { openExchange } from './exchange.ts';
import { createFleetView } from './fleet-view.ts';

/** The known device or group whose name is most similar to the target's; null: none is similar. @throws BrokerFailure */
export async function nearestTarget(deps: CtlDeps): Promise<string | null> {
  const { target, topics, timeoutS, access } = deps;
  if (target.kind === 'all') return null;
  const view = createFleetView(topics, { kind: 'all' });
  const exchange = await openExchange(deps, view.subscriptions, (message) => void view.receive(message));
  try {
    await exchange.waitUntil(exchange.isSettled, () => timeoutS * 1000);
  } finally {
    await exchange.close();
  }
  const registered = access.registered ?? [];
  const groups = [
    ...view.entries().flatMap(({ state }) => state?.groups ?? []),
    ...registered.flatMap((one) => one.groups),
  ];
  const devices = [...view.entries(), ...registered].map(({ device }) => device);
  return target.kind === 'group' ? suggestName(target.group, groups) : suggestName(target.device, devices);
}
