// SPDX-License-Identifier: Apache-2.0
/**
 * The examples, applied as shipped: real kubelets write their files, and the real programs read
 * them.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { whyNoRealPods } from '../cluster/real-pods/build.ts';
import { until } from '../cluster/until.ts';
import { applyText } from '../support/cluster/apply.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { waitForUsableCa } from '../support/cluster/fixture.ts';
import {
  applyManifests,
  startComponents,
  type Installation,
} from '../support/cluster/installation.ts';
import { layImages } from './images.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const WAIT_MS = 120_000;
/**
 * A kubelet looks at the volumes of a pod every minute and a half at the latest, and the scripts
 * every ten seconds.
 */
const RELOADED_MS = 300_000;
const IN_SHOP = ['-n', 'shop'] as const;

interface PodSpec {
  readonly containers: readonly [{ readonly name: string }];
}

describe('the examples', { skip: (await whyNoRealPods()) ?? false }, () => {
  const directory = makeDirectory();
  let cluster: Cluster;
  let installation: Installation | undefined;

  before(async () => {
    const images = await layImages(directory);
    cluster = await startCluster({ realPods: true, images });
    await applyManifests(cluster);
    await applied('serving/signer.yaml', 'nginx/nginx.yaml', 'haproxy/haproxy.yaml');
    await applied('postgres/postgres.yaml');
    // As the how-to says: the names of the signers and Secrets that there are now, and the rights
    // on Services.
    const from = ['rbac', '--kubeconfig', cluster.kubeconfig, '--from-cluster'];
    await applyText(cluster, (await countersign(from)).stdout);
    installation = await startComponents(cluster, {
      only: ['authority', 'attester', 'pcr-issuer'],
    });
    for (const name of ['service', 'postgres']) await waitForUsableCa(cluster, name);
    await applied('curl/curl.yaml', 'go-client/job.yaml', 'prometheus/prometheus.yaml');
  });
  after(async () => {
    await installation?.stop();
    await cluster.stop();
    removeDirectory(directory);
  });

  async function applied(...files: readonly string[]): Promise<void> {
    for (const file of files) await cluster.kubectl(['apply', '-f', join(EXAMPLES, file)]);
  }

  const logs = async (what: string): Promise<string> =>
    (await cluster.kubectl(['logs', ...IN_SHOP, what])).stdout;

  /** What a Job prints, once it is Complete. */
  function printedBy(job: string): Promise<string> {
    return until(`Job ${job} is complete`, WAIT_MS, async () => {
      // One may have failed before its server was there.
      const ended = [
        ...IN_SHOP,
        '-l',
        `job-name=${job}`,
        '--field-selector=status.phase=Succeeded',
      ];
      const { stdout } = await cluster.kubectl(['get', 'pods', ...ended, '-o', 'name']);
      if (stdout !== '') return logs(stdout.trim());
      const pods = await cluster.kubectl(['get', 'pods', ...IN_SHOP, '-o', 'wide']);
      throw new Error(`${pods.stdout}\n${await logs(`job/${job}`).catch(String)}`);
    });
  }

  /** Publishes the anchors of one signer under the name of another, too. */
  async function publishedFor(name: string, from: string): Promise<void> {
    const args = ['get', 'clustertrustbundle', `example.com:${from}:primary`, '-o', 'json'];
    const { apiVersion, spec } = JSON.parse((await cluster.kubectl(args)).stdout) as {
      apiVersion: string;
      spec: { trustBundle: string };
    };
    const more = {
      apiVersion,
      kind: 'ClusterTrustBundle',
      metadata: { name: `example.com:${name}:more` },
      spec: { signerName: `example.com/${name}`, trustBundle: spec.trustBundle },
    };
    await applyText(cluster, JSON.stringify(more));
  }

  /** What a Job like that of curl prints. */
  async function printedIn(
    name: string,
    change: { readonly command?: readonly string[]; readonly args?: readonly string[] },
  ): Promise<string> {
    const { stdout } = await cluster.kubectl(['get', 'job', 'curl', ...IN_SHOP, '-o', 'json']);
    const { spec } = JSON.parse(stdout) as { spec: { template: { spec: PodSpec } } };
    const [container] = spec.template.spec.containers;
    const pod = { ...spec.template.spec, containers: [{ ...container, args: [], ...change }] };
    const body = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: 'shop' },
      spec: { backoffLimit: 6, template: { spec: pod } },
    };
    await applyText(cluster, JSON.stringify(body));
    return printedBy(name);
  }

  /** What curl hears of a URL with the files of its example. */
  async function heard(name: string, url: string): Promise<string> {
    const path = '{.spec.template.spec.containers[0].args}';
    const args = ['get', 'job', 'curl', ...IN_SHOP, '-o', `jsonpath=${path}`];
    const shipped = JSON.parse((await cluster.kubectl(args)).stdout) as readonly string[];
    return printedIn(name, { args: [...shipped.slice(0, -1), url] });
  }

  test('nginx and curl know each other by their files alone', async () => {
    assert.equal(await printedBy('curl'), 'hello from nginx\n');
  });

  test('nginx has each form of its Service’s name', async () => {
    const url = 'https://nginx.shop.svc.cluster.local/';
    assert.equal(await heard('long', url), 'hello from nginx\n');
  });

  test('HAProxy serves whoever has a certificate', async () => {
    assert.match(await heard('to-haproxy', 'https://haproxy.shop.svc/'), /^hello from haproxy\n?$/);
  });

  test('a client in Go takes the server by its SPIFFE ID', async () => {
    assert.match(
      await printedBy('go-client'),
      /^200 OK from spiffe:\/\/cluster\.local\/ns\/shop\/sa\/nginx: hello from nginx\n$/,
    );
  });

  test('PostgreSQL accepts a ServiceAccount’s certificate; the client verifies the name', async () => {
    assert.equal(await printedBy('orders'), 'logged in as orders\n');
  });

  test('Prometheus scrapes with a client certificate', async () => {
    await until('the target is up', WAIT_MS, async () => {
      const { stdout } = await cluster.kubectl([
        'exec',
        ...IN_SHOP,
        'deployment/prometheus',
        '--',
        'promtool',
        'query',
        'instant',
        'http://127.0.0.1:9090',
        'example_requests_total',
      ]);
      assert.match(stdout, /example_requests_total\{.*job="nginx".*\} => 1 @/);
      return true;
    });
  });

  test('nginx, HAProxy and PostgreSQL read their files again when the anchors change', async () => {
    // Kubelets put all bundles of a signer name into the file: another one changes it.
    await publishedFor('service', 'postgres');
    await publishedFor('postgres', 'service');
    for (const [what, said] of [
      ['deployment/nginx', /reconfiguring/],
      ['deployment/haproxy', /Reexecuting|Reloading HAProxy|(?:New worker[^]*){2}/],
      ['statefulset/postgres', /received SIGHUP, reloading configuration files/],
    ] as const) {
      await until(`${what} has read its files again`, RELOADED_MS, async () => {
        const { stdout, stderr } = await cluster.kubectl(['logs', ...IN_SHOP, what]);
        assert.match(stdout + stderr, said);
        return true;
      });
    }
    assert.equal(await heard('after', 'https://nginx.shop.svc/'), 'hello from nginx\n');
    assert.match(
      await heard('after-haproxy', 'https://haproxy.shop.svc/'),
      /^hello from haproxy\n?$/,
    );
  });

  test('a client without a certificate is refused', async () => {
    const call = 'curl -sS --cacert /run/tls/trust.pem https://haproxy.shop.svc/ 2>&1';
    const said = await printedIn('refused', {
      command: ['/bin/sh', '-c', `${call}; echo ends $?`],
    });
    assert.match(said, /certificate required|handshake failure/);
    assert.match(said, /ends (?:35|56)\n$/);
  });
});
