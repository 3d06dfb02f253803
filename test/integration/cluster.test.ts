// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { attachCluster, startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory } from '../cluster/directory.ts';
import { isRunning, signal } from '../cluster/pids.ts';
import { exactRelease } from '../cluster/releases.ts';
import { stateFileOf } from '../cluster/state.ts';
import { until } from '../cluster/until.ts';

const signerName = 'example.com/workload';
const program = join(import.meta.dirname, '../cluster/main.ts');
const shared = process.env['COUNTERSIGN_TEST_CLUSTER'];
const version = shared === undefined || shared === '' ? '1.37' : attachCluster(shared).version;

// A cluster of its own: these tests stop what others need.
let cluster: Cluster;
before(async () => (cluster = await startCluster({ version })));
after(() => cluster.stop());

test('every component of the test cluster reports the exact release', async () => {
  const release = exactRelease(version);
  const { stdout } = await cluster.kubectl(['version', '-o', 'json']);
  const answer = JSON.parse(stdout) as Record<string, { gitVersion: string }>;
  assert.equal(answer['clientVersion']?.gitVersion, release);
  assert.equal(answer['serverVersion']?.gitVersion, release);
  for (const component of ['kube-controller-manager', 'kube-scheduler', 'kubelet'])
    await until(`${component} ${release} is in the audit log`, 60_000, async () =>
      (await cluster.readAudit()).some(({ userAgent }) =>
        userAgent?.startsWith(`${component}/${release} `),
      ),
    );
});

test('both nodes of the test cluster are Ready', async () => {
  const condition = `{.items[*].status.conditions[?(@.type=="Ready")].status}`;
  const { stdout } = await cluster.kubectl(['get', 'nodes', '-o', `jsonpath=${condition}`]);
  assert.equal(stdout, 'True True');
  assert.deepEqual(
    cluster.nodes.map(({ name }) => name),
    ['node-1', 'node-2'],
  );
});

test('a ServiceAccount authenticates by token, and RBAC forbids what is not granted', async () => {
  await cluster.kubectl(['create', 'serviceaccount', 'nobody']);
  const kubeconfig = await cluster.serviceAccountKubeconfig('default', 'nobody');
  const who = await cluster.kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo}'], {
    kubeconfig,
  });
  assert.match(who.stdout, /"system:serviceaccount:default:nobody"/);
  const refused = await cluster.kubectl(['get', 'secrets'], { kubeconfig, allowFailure: true });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Forbidden/);
  await until('the refusal is in the audit log', 60_000, async () =>
    (await cluster.readAudit()).some(
      ({ user, verb, objectRef, responseStatus }) =>
        user.username === 'system:serviceaccount:default:nobody' &&
        verb === 'list' &&
        objectRef?.resource === 'secrets' &&
        responseStatus?.code === 403,
    ),
  );
});

test('the Node authorizer and NodeRestriction limit a node to its own objects', async () => {
  const kubeconfig = join(cluster.directory, 'node-1.kubeconfig');
  const label = async (node: string, key: string): Promise<string> => {
    const args = ['label', 'node', node, `${key}=x`];
    return (await cluster.kubectl(args, { kubeconfig, allowFailure: true })).stderr;
  };
  assert.equal(await label('node-1', 'example.com/a'), '');
  assert.match(await label('node-2', 'example.com/a'), /only its own Node object/);
  assert.match(await label('node-1', 'node-restriction.kubernetes.io/a'), /not allowed to modify/);
});

test('kubectl fails with the message of the API server', async () => {
  await assert.rejects(cluster.kubectl(['get', 'nonsense']), /have a resource type "nonsense"/);
});

test('a pod waits until its certificate is issued and then has it in its volume', async () => {
  await createPod('waits', 'node-1');
  await until('the kubelet asked', 10_000, async () => (await requestsOf('waits')).length === 1);
  const ready = ['wait', '--for=condition=Ready', 'pod/waits'];
  const early = await cluster.kubectl([...ready, '--timeout=1s'], { allowFailure: true });
  assert.equal(early.code, 1);

  const { stdout } = await tool('pcr-status-writer');
  assert.equal((JSON.parse(stdout) as { count: number }).count, 1);
  await cluster.kubectl([...ready, '--timeout=30s']);
  const [bundle] = bundlesOf('node-1');
  assert.match(readFileSync(bundle ?? '', 'utf8'), /^-----BEGIN PRIVATE KEY-----[^]+CERTIFICATE/);
});

test("upstream's own signer serves its name", async () => {
  const signer = startTool('podcertificatesigner');
  try {
    await createPod('served', 'node-2');
    await cluster.kubectl(['wait', '--for=condition=Ready', 'pod/served', '--timeout=30s']);
  } finally {
    signer.kill();
    await once(signer, 'exit');
  }
});

test('a restarted API server has its port and its objects', async () => {
  await cluster.kubectl(['create', 'configmap', 'kept']);
  await cluster.apiServer.kill();
  assert.equal(cluster.apiServer.pid, undefined);
  await assert.rejects(cluster.kubectl(['get', 'configmap', 'kept']), /connection .*refused/);
  await cluster.apiServer.start();
  await cluster.kubectl(['get', 'configmap', 'kept']);
  await cluster.etcd.restart();
  await until('the API server found etcd again', 20_000, async () => {
    const { code } = await cluster.kubectl(['get', 'cm', 'kept'], { allowFailure: true });
    return code === 0;
  });
});

test('another process may attach and restart a node', async () => {
  const previous = cluster.nodes[0]?.pid;
  const script = `
    const { attachCluster } = await import(process.argv[1]);
    const cluster = attachCluster(process.argv[2]);
    await cluster.kubectl(['get', 'nodes']);
    await cluster.nodes[0].restart();
    console.log(cluster.nodes[0].pid);
    await cluster.stop();`;
  const module = pathToFileURL(join(import.meta.dirname, '../cluster/cluster.ts')).href;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    script,
    module,
    stateFileOf(cluster.directory),
  ]);
  assert.notEqual(cluster.nodes[0]?.pid, previous);
  assert.equal(cluster.nodes[0]?.pid, Number(stdout));
});

test("somebody's own cluster is used and left as it is", async () => {
  const own = await startCluster({ kubeconfig: cluster.kubeconfig });
  assert.equal(own.server, cluster.server);
  assert.equal(own.version, version);
  assert.throws(() => own.apiServer, /cannot be had/);
  await assert.rejects(own.readAudit(), /cannot be had/);
  await own.kubectl(['get', 'nodes']);
  await own.serviceAccountKubeconfig('default', 'default');
  await own.stop();
  assert.equal(existsSync(own.directory), false);
  await cluster.kubectl(['get', 'nodes']);
});

test('a component that exits at its start is an error with the end of its log', async () => {
  const flags = { 'kube-apiserver': ['--no-such-flag'] };
  await assert.rejects(startCluster({ version, flags }), (error: Error) => {
    assert.match(error.message, /kube-apiserver ended: [^]*unknown flag: --no-such-flag/);
    return true;
  });
});

test('a stopped cluster leaves no process and no file', async () => {
  const other = await startCluster({ version, nodes: 1 });
  const pids = pidsOf(other);
  assert.equal(pids.length, 5);
  await other.stop();
  assert.deepEqual(pids.filter(isRunning), []);
  assert.equal(existsSync(other.directory), false);
});

test('Ctrl-C ends what make cluster started', async (t) => {
  const launched = await launch(t);
  launched.child.kill('SIGINT');
  await once(launched.child, 'exit');
  assert.deepEqual(launched.pids.filter(isRunning), []);
  assert.equal(existsSync(launched.directory), false);
});

test('the processes of a killed launcher end, and the next launcher removes its files', async (t) => {
  const launched = await launch(t);
  launched.child.kill('SIGKILL');
  // The kernel ends the children once the launcher's main thread is gone, before its other threads.
  await once(launched.child, 'exit');
  await until('all have ended', 10_000, () => !launched.pids.some(isRunning));
  const next = await startCluster({ kubeconfig: cluster.kubeconfig });
  await next.stop();
  assert.equal(existsSync(launched.directory), false);
});

test('what a killed launcher left stays until its processes have ended', async (t) => {
  const { room, left } = await killedLauncher(t);
  const user = spawn('sh', ['-c', 'read line', 'kubelet', `--root-dir=${left}/node-1`]);
  t.after(() => user.kill());
  await once(user, 'spawn');
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = room;
  t.after(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
  makeDirectory();
  assert.equal(existsSync(left), true);
  user.kill();
  await once(user, 'exit');
  makeDirectory();
  assert.equal(existsSync(left), false);
});

test('of launchers that start at once, none finds half of what a killed one left', async (t) => {
  const { room, left } = await killedLauncher(t);
  for (let file = 0; file < 5_000; file += 1) writeFileSync(join(left, String(file)), '');
  const module = new URL('../cluster/directory.ts', import.meta.url).href;
  const code = `import { existsSync } from 'node:fs';
    import { makeDirectory } from ${JSON.stringify(module)};
    process.stdout.write('ready');
    process.stdin.resume().once('end', () => {
      makeDirectory();
      process.exit(existsSync(process.env.LEFT) ? 3 : 0);
    });`;
  const launchers = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', code], {
      env: { ...process.env, TMPDIR: room, LEFT: left },
    }),
  );
  const codes = launchers.map(async (each) => ((await once(each, 'exit')) as [number])[0]);
  await Promise.all(launchers.map(({ stdout }) => once(stdout, 'data')));
  for (const { stdin } of launchers) stdin.end();
  assert.deepEqual(await Promise.all(codes), [0, 0, 0]);
});

/** A directory of a launcher that has ended, in a directory for temporary files of its own. */
async function killedLauncher(t: TestContext): Promise<{ room: string; left: string }> {
  const room = mkdtempSync(join(tmpdir(), 'launchers-'));
  t.after(() => rmSync(room, { recursive: true, force: true }));
  const left = join(room, 'countersign-cluster-killed');
  mkdirSync(left);
  const ended = spawn('true');
  await once(ended, 'exit');
  writeFileSync(join(left, 'owner.pid'), String(ended.pid));
  return { room, left };
}

function pidsOf({ etcd, apiServer, controllerManager, scheduler, nodes }: Cluster): number[] {
  const processes = [etcd, apiServer, controllerManager, scheduler, ...nodes];
  return processes.flatMap(({ pid }) => pid ?? []);
}

async function launch(
  t: TestContext,
): Promise<{ child: ChildProcess; pids: number[]; directory: string }> {
  const child = spawn(process.execPath, [program, '--version', version, '--nodes', '1'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const file = await until('the cluster is up', 60_000, () => {
    return /COUNTERSIGN_TEST_CLUSTER=(\S+)\n/.exec(printed)?.[1];
  });
  const launched = attachCluster(file);
  const pids = pidsOf(launched);
  t.after(() => pids.filter(isRunning).forEach((pid) => signal(pid, 'SIGKILL')));
  assert.equal(pids.length, 5);
  return { child, pids, directory: launched.directory };
}

async function createPod(name: string, nodeName: string): Promise<void> {
  const podCertificate = { signerName, keyType: 'ECDSAP256', credentialBundlePath: 'bundle.pem' };
  const mount = { name: 'identity', mountPath: '/identity' };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName,
      containers: [{ name: 'main', image: 'none', volumeMounts: [mount] }],
      volumes: [{ name: 'identity', projected: { sources: [{ podCertificate }] } }],
    },
  };
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(pod) });
}

async function requestsOf(podName: string): Promise<unknown[]> {
  const resource = ['get', 'podcertificaterequests', '-o', 'json'];
  const { stdout } = await cluster.kubectl(resource);
  const { items } = JSON.parse(stdout) as { items: { spec: { podName: string } }[] };
  return items.filter(({ spec }) => spec.podName === podName);
}

function bundlesOf(nodeName: string): string[] {
  const node = cluster.nodes.find(({ name }) => name === nodeName);
  assert.ok(node);
  const pattern = 'pods/*/volumes/kubernetes.io~projected/identity/bundle.pem';
  return globSync(join(node.rootDirectory, pattern));
}

function toolArguments(name: string): [program: string, args: string[]] {
  const [file, ...first] = cluster.tool(name);
  return [file, [...first, '--kubeconfig', cluster.kubeconfig, '--signer-name', signerName]];
}

function tool(name: string): Promise<{ stdout: string }> {
  return promisify(execFile)(...toolArguments(name));
}

function startTool(name: string): ChildProcess {
  return spawn(...toolArguments(name), { stdio: 'ignore' });
}
