// SPDX-License-Identifier: Apache-2.0
/**
 * The dashboard of ACME and of restarts, of orders that Pebble fulfils and of a Deployment whose
 * Secret is renewed.
 */
import { after, before } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { OPTIONAL_COMPONENTS } from '#install/monitoring/optional-panels.ts';
import { request, startStand, type Stand as AcmeStand } from '../acme/whole/stand.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import {
  Stand as Workloads,
  administrator,
  install,
  startRefresher,
} from '../integration/pod-refresher/stand.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { OF_OPTIONAL, panelsOf, testAlertSeries, testDashboard } from './panels.ts';
import { startPrometheus, type Prometheus } from './prometheus.ts';

const ASK_EVERY_MS = 10_000;
const TEAM = 'team-refresh';
/** Nobody's certificate is in need of it here. */
const MAY_BE_EMPTY = new Set(['eviction {{outcome}}']);

let acme: AcmeStand;
let cluster: Cluster;
let refresher: ComponentProcess;
let prometheus: Prometheus;
let began: number;
const asking = new AbortController();
let asked: Promise<void>;

before(async () => {
  acme = await startStand();
  cluster = await startCluster({ version: '1.37', nodes: 1 });
  const client = await administrator(cluster);
  const workloads = new Workloads(client);
  await install(cluster);
  await workloads.namespace(TEAM);
  await workloads.certificate(TEAM, 'tls');
  await workloads.workload({ namespace: TEAM, name: 'web', secrets: ['tls'], wish: 'secrets' });
  await workloads.untilRolledOut();
  refresher = await startRefresher(cluster);
  await refresher.ready();
  prometheus = await startPrometheus({
    targets: [...acme.components, refresher].map(({ url }) => new URL(url).host),
    rules: [],
  });
  began = Date.now();
  asked = ask(workloads).finally(() => client.close());
});

after(async () => {
  asking.abort();
  await asked;
  await prometheus.stop();
  await refresher.stop();
  await cluster.stop();
  await acme.stop();
});

/** Somebody asks for a certificate, another Secret is renewed, and so on. */
async function ask(workloads: Workloads): Promise<void> {
  const { signal } = asking;
  for (let revision = 2; !signal.aborted; revision += 1) {
    await request(acme, ['wild.shop.example', '*.wild.shop.example']);
    await request(acme, ['www.shop.example']);
    await workloads.issue(TEAM, 'tls', revision);
    await delay(ASK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Of components that do not run here; scrape-run.ts shows the ledger's. */
const NOT_HERE = new Set(['Ledger', 'Foreign trust domains', 'Notifications']);
const { rows } = panelsOf(OPTIONAL_COMPONENTS, 'others');
testDashboard(
  {
    name: 'acme',
    title: 'Countersign: ACME and restarts',
    rows: rows.filter(({ title }) => !NOT_HERE.has(title)),
  },
  MAY_BE_EMPTY,
  () => ({ prometheus, began }),
);
testAlertSeries(
  (series) => OF_OPTIONAL.test(series),
  () => ({ prometheus }),
);
