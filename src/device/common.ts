import { createEventLoop } from '../machine/event-loop.ts';
import { createRepeatFilter } from '../machine/repeat-filter.ts';
import { createRunner } from '../machine/runner.ts';
import type { Config } from '../protocol/config.ts';
import { deviceTopics } from '../protocol/mqtt/topics.ts';
import { createOwnerConnection } from './broker/owner-connection.ts';
import type { AgentDeps } from './deps/deps.ts';
import { createFeatures } from './features/features.ts';
import { guardDeps } from './guard/guarded-deps.ts';
import type { LaneRunner } from './lane/runner/lane-runner.ts';
import { Publisher } from './status/publisher.ts';
import { createTroubles } from './status/troubles.ts';
import { createTokenStore } from './tokens/token-store.ts';

export type Common = ReturnType<typeof createCommon>;

/**
 * What all features share. It is made before any of them. The publisher and the owner's connection learn later what they publish
 * (`publisher.include`) and whom they call (`features.join`).
 */
export function createCommon({ device, mqtt, service }: Config, outside: AgentDeps) {
  const { deps, reports } = guardDeps(outside);
  const { clock, version, randomHash } = deps;
  const { groups } = device;
  const defects = reports.report;
  const address = { prefix: mqtt.prefix, tenant: device.tenant, device: device.id };
  const topics = deviceTopics(address);
  const bootId = randomHash().slice(0, 12);
  const loop = createEventLoop((error) => defects('event loop', error));
  const repeats = createRepeatFilter(clock);
  const lanes: LaneRunner[] = [];
  const publisher = new Publisher({ topics, bootId, version, groups }, clock, repeats, lanes);
  const features = createFeatures(defects);
  const { onStep, watch, lanesChanged, configChanged } = features;
  const connection = createOwnerConnection({ ...deps, repeats, topics, groups, lanes, publisher, features });
  const { bus, protocol } = connection;
  return {
    ...deps,
    deps,
    reports,
    defects,
    loop,
    runner: createRunner({ clock, loop, defects }),
    address,
    topics,
    groups,
    bootId,
    repeats,
    lanes,
    tokenStore: createTokenStore(randomHash, service.hosts),
    publisher,
    troubles: createTroubles(publisher),
    connection,
    bus,
    protocol,
    features,
    onStep,
    watch,
    lanesChanged,
    configChanged,
  };
}
