// SPDX-License-Identifier: Apache-2.0
/** What the host of real pods must give to a pod: each law that other tests here rest upon. */
import assert from 'node:assert/strict';
import { isIPv4 } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { create, nodePod, openStand, SKIP, statusOf, untilReady, type Stand } from './stand.ts';

const STAY = 'setInterval(() => undefined, 1e6);';
const SERVE = `require('node:http').createServer((_, answer) => answer.end(process.env.SAYS)).listen(8080);`;

describe('pods that really run', { skip: SKIP }, () => {
  let stand: Stand;
  let cluster: Cluster;
  before(async () => {
    stand = await openStand();
    cluster = stand.cluster;
  });
  after(() => stand.remove());

  /** What a script prints in a pod of its own, by its end. */
  async function printed(name: string, script: string, container?: object): Promise<unknown> {
    await create(cluster, nodePod(name, script, container));
    await ended(name);
    return JSON.parse((await cluster.kubectl(['logs', name])).stdout);
  }

  function ended(name: string): Promise<number> {
    return until(`${name} has ended`, 60_000, async () => {
      const [main] = (await statusOf(cluster, name)).containerStatuses ?? [];
      return main?.state.terminated?.exitCode;
    });
  }

  test('a container is PID 1 alone, with its own user, directory and environment', async () => {
    const script = `const { readdirSync } = require('node:fs');
      console.log(JSON.stringify({ pid: process.pid, uid: process.getuid(), gid: process.getgid(), cwd: process.cwd(),
      says: process.env.SAYS, processes: readdirSync('/proc').filter((name) => name > 0).length }))`;
    const found = await printed('self', script, {
      workingDir: '/home/nonroot',
      env: [{ name: 'SAYS', value: 'hello' }],
    });
    assert.deepEqual(found, {
      pid: 1,
      uid: 65532,
      gid: 65532,
      cwd: '/home/nonroot',
      says: 'hello',
      processes: 1,
    });
  });

  test('a read-only root refuses what a volume takes, and nothing gains privileges', async () => {
    const script = `const { readFileSync, writeFileSync } = require('node:fs');
      const tried = (path) => { try { writeFileSync(path, ''); return 'written' } catch (error) { return error.code } };
      const status = readFileSync('/proc/self/status', 'utf8');
      console.log(JSON.stringify({ root: tried('/tmp/x'), volume: tried('/scratch/x'),
        capabilities: /CapBnd:\\s*(\\w+)/.exec(status)[1], noNewPrivs: /NoNewPrivs:\\s*(\\d)/.exec(status)[1] }))`;
    const securityContext = {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    };
    const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }];
    const pod = nodePod(
      'read-only',
      script,
      { securityContext, volumeMounts },
      { volumes: [{ name: 'scratch', emptyDir: {} }] },
    );
    await create(cluster, pod);
    await ended('read-only');
    const { stdout } = await cluster.kubectl(['logs', 'read-only']);
    assert.deepEqual(JSON.parse(stdout), {
      root: 'EROFS',
      volume: 'written',
      capabilities: '0000000000000000',
      noNewPrivs: '1',
    });
  });

  test('a pod is reachable by name, Service and its own non-loopback address', async () => {
    const container = {
      env: [{ name: 'SAYS', value: 'served' }],
      readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
    };
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'greeting' },
      spec: { selector: { app: 'server' }, ports: [{ port: 80, targetPort: 8080 }] },
    };
    await create(cluster, nodePod('server', SERVE, container), service);
    const { podIP = '' } = await untilReady(cluster, 'server');
    assert.ok(isIPv4(podIP) && !podIP.startsWith('127.'), podIP);
    const script = `(async () => { const got = [];
      for (const url of ['http://greeting', 'http://greeting.default.svc.cluster.local', 'http://${podIP}:8080'])
        got.push(await fetch(url).then((answer) => answer.text(), (error) => String(error.cause)));
      console.log(JSON.stringify(got)) })()`;
    await until('the Service has an endpoint', 30_000, async () => {
      const slices = await cluster.kubectl(['get', 'endpointslices', '-o', 'json']);
      return slices.stdout.includes(podIP);
    });
    assert.deepEqual(await printed('client', script), ['served', 'served', 'served']);
  });

  test('a pod asks the API server as its ServiceAccount at the Service kubernetes', async () => {
    const script = `const { readFileSync } = require('node:fs');
      const file = (name) => readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/' + name);
      const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
      const request = require('node:https').request('https://kubernetes.default.svc/apis/authentication.k8s.io/v1/selfsubjectreviews',
        { method: 'POST', ca: file('ca.crt'), headers: { authorization: 'Bearer ' + file('token'), 'content-type': 'application/json' } },
        (answer) => answer.on('data', (text) => console.log(JSON.stringify(JSON.parse(text).status.userInfo.username))));
      request.end(body)`;
    assert.equal(await printed('asking', script), 'system:serviceaccount:default:default');
  });

  test('an exit code is told, and so is a program that is not there', async () => {
    await create(
      cluster,
      nodePod('seven', 'process.exit(7)'),
      nodePod('absent', '', { command: ['/absent'] }),
    );
    assert.equal(await ended('seven'), 7);
    const reason = await until('the absent program is told of', 60_000, async () => {
      const [main] = (await statusOf(cluster, 'absent')).containerStatuses ?? [];
      return main?.state.terminated?.exitCode ?? main?.state.waiting?.message;
    });
    assert.ok(reason === 128 || /no such file/.test(String(reason)), String(reason));
  });

  test('a pod that is deaf to SIGTERM is gone after its grace', async () => {
    const script = `process.on('SIGTERM', () => undefined); ${STAY}`;
    await create(cluster, nodePod('deaf', script, {}, { terminationGracePeriodSeconds: 1 }));
    await untilReady(cluster, 'deaf');
    await cluster.kubectl(['delete', 'pod', 'deaf']);
    await assert.rejects(statusOf(cluster, 'deaf'), /NotFound/);
  });

  test('a pod that is deleted hears SIGTERM and may say a last word', async () => {
    const script = `process.on('SIGTERM', () => { console.log('last word'); process.exit(0) }); console.log('ready'); ${STAY}`;
    await create(cluster, nodePod('polite', script, {}, { terminationGracePeriodSeconds: 30 }));
    await untilReady(cluster, 'polite');
    const following = cluster.kubectl(['logs', '--follow', 'polite']);
    await cluster.kubectl(['delete', 'pod', 'polite']);
    assert.equal((await following).stdout, 'ready\nlast word\n');
  });

  test('exec probes and kubectl exec run in the container and return its exit code', async () => {
    const probe = ['/nodejs/bin/node', '-e', `require('node:fs').accessSync('/tmp/ready')`];
    await create(
      cluster,
      nodePod('probed', STAY, {
        readinessProbe: { exec: { command: probe }, periodSeconds: 1, timeoutSeconds: 10 },
      }),
    );
    await until(
      'it runs',
      60_000,
      async () => (await statusOf(cluster, 'probed')).phase === 'Running',
    );
    const write = `require('node:fs').writeFileSync('/tmp/ready', ''); process.exitCode = 3`;
    const { code } = await cluster.kubectl(
      ['exec', 'probed', '--', '/nodejs/bin/node', '-e', write],
      {
        allowFailure: true,
      },
    );
    assert.equal(code, 3);
    await untilReady(cluster, 'probed');
  });

  test('an image that is not there is said to be missing', async () => {
    await create(cluster, nodePod('imageless', STAY, { image: 'absent:1' }));
    const message = await until('the pull fails', 60_000, async () => {
      const [main] = (await statusOf(cluster, 'imageless')).containerStatuses ?? [];
      return main?.state.waiting?.reason === 'ErrImagePull' && main.state.waiting.message;
    });
    assert.match(message, /no image "absent:1"/);
  });
});
