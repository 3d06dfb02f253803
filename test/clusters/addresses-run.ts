// SPDX-License-Identifier: Apache-2.0
/** What a cluster of IPv6 gives to a pod: each law that the other tests here rest upon. */
import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { create, nodePod, statusOf, untilReady } from '../real-pods/stand.ts';
import { KINDS, SKIP, openStand, type Stand } from './stand.ts';

const WAIT_MS = 180_000;
const API = 'https://kubernetes.default.svc/readyz';

const served = (name: string, host: string): object =>
  nodePod(
    name,
    `require('node:http').createServer((_, answer) => answer.end('served')).listen(8080, '${host}')`,
    { readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 } },
  );

for (const kind of ['IPv6 only', 'dual-stack, IPv6 first'] as const) {
  const families = KINDS[kind].ipFamilies;
  describe(`${kind}: pods that really run`, { skip: SKIP }, () => {
    let stand: Stand;
    let cluster: Cluster;
    before(async () => {
      stand = await openStand(kind);
      ({ cluster } = stand);
    });
    after(() => stand.remove());

    test('a pod, its node and its Service have an address of each family, IPv6 first', async () => {
      const isFamily = { IPv4: isIPv4, IPv6: isIPv6 };
      const ofEach = (addresses: readonly string[]): readonly string[] =>
        addresses.map((each) => (isFamily.IPv4(each) ? 'IPv4' : 'IPv6'));
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'greeting' },
        spec: {
          ipFamilyPolicy: 'PreferDualStack',
          selector: { app: 'every' },
          ports: [{ port: 80, targetPort: 8080 }],
        },
      };
      await create(cluster, served('every', '::'), service);
      const { podIP = '' } = await untilReady(cluster, 'every');
      assert.ok(isIPv6(podIP), podIP);
      const read = async (kindAndName: string, path: string): Promise<readonly string[]> =>
        (await cluster.kubectl(['get', kindAndName, '-o', `jsonpath=${path}`])).stdout.split(' ');
      assert.deepEqual(ofEach(await read('pod/every', '{.status.podIPs[*].ip}')), families);
      assert.deepEqual(ofEach(await read('service/greeting', '{.spec.clusterIPs[*]}')), families);
      const internal = '{.status.addresses[?(@.type=="InternalIP")].address}';
      assert.deepEqual(ofEach(await read('node/node-1', internal)), families);
    });

    test('a pod reaches Services and pods by name and by IPv6 address', async () => {
      const { podIP = '' } = await statusOf(cluster, 'every');
      const urls = ['http://greeting', `http://[${podIP}]:8080`];
      const script = `(async () => { const got = [];
        for (const url of ${JSON.stringify(urls)})
          got.push(await fetch(url).then((answer) => answer.text(), (error) => String(error.cause)));
        const ca = require('node:fs').readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/ca.crt');
        const asked = require('node:https').get('${API}', { ca }, (answer) => {
          got.push(require('node:net').isIPv6(process.env.KUBERNETES_SERVICE_HOST), answer.statusCode);
          console.log(JSON.stringify(got)); process.exit() });
        asked.on('error', (error) => console.log(String(error))) })()`;
      await until('the Service has an endpoint', WAIT_MS, async () => {
        const { stdout } = await cluster.kubectl(['get', 'endpointslices', '-o', 'json']);
        return stdout.includes(podIP);
      });
      await create(cluster, nodePod('client', script));
      await until('the client has ended', WAIT_MS, async () => {
        const [main] = (await statusOf(cluster, 'client')).containerStatuses ?? [];
        return main?.state.terminated !== undefined;
      });
      const { stdout } = await cluster.kubectl(['logs', 'client']);
      assert.deepEqual(JSON.parse(stdout), ['served', 'served', true, 200]);
    });

    test('a pod that listens on 0.0.0.0 alone fails its probe', async () => {
      await create(cluster, served('ipv4-alone', '0.0.0.0'));
      const { podIP = '' } = await until('its probe has failed', WAIT_MS, async () => {
        const args = ['get', 'events', '-o', 'json', '--field-selector=reason=Unhealthy'];
        const { stdout } = await cluster.kubectl(args);
        return (
          /ipv4-alone[\s\S]*connection refused/.test(stdout) && statusOf(cluster, 'ipv4-alone')
        );
      });
      assert.ok(isIPv6(podIP), podIP);
    });
  });
}
