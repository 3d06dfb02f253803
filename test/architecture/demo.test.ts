// SPDX-License-Identifier: Apache-2.0
/** When `make demo` uses a cluster of the user: never by accident. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { WORKLOADS } from '../../demo/cast/cast.ts';
import { imageParts } from '../../demo/cast/image.ts';
import { invitation } from '../../demo/invitation.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The commands that make would run for the demo. */
function planned(args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const { MAKEFLAGS: _, MAKELEVEL: __, KUBECONFIG: ___, ...clean } = process.env;
  const options = { cwd: ROOT, encoding: 'utf8', env: { ...clean, ...env } } as const;
  const { stdout, stderr, status } = spawnSync('make', ['--dry-run', 'demo', ...args], options);
  assert.equal(status, 0, stderr);
  return stdout;
}

function demo(...args: readonly string[]): { readonly code: number | null; readonly said: string } {
  const program = join(ROOT, 'demo/main.ts');
  const options = { cwd: ROOT, encoding: 'utf8', input: '' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], options);
  return { code: status, said: stdout + stderr };
}

test('an exported KUBECONFIG changes nothing of the demo', () => {
  assert.equal(planned([], { KUBECONFIG: '/home/a/.kube/config' }), planned([]));
  assert.doesNotMatch(planned([]), /--kubeconfig/);
});

test('KUBECONFIG on make’s command line has the demo use that cluster, and build none', () => {
  const commands = planned(['KUBECONFIG=/home/a/.kube/config', 'IMAGE=registry.example/c:1']);
  assert.match(commands, /--kubeconfig '\/home\/a\/.kube\/config' --image 'registry.example\/c:1'/);
  assert.doesNotMatch(commands, /cluster\/build\.ts/);
});

const KEPT = { kubeconfig: '/tmp/c/kubeconfig', directory: '/tmp/c', places: ['kubectl logs x'] };

test('a kept demo prints commands that exist, of objects that its steps create', () => {
  const text = invitation({ ...KEPT, values: '/tmp/c/values.yaml' });
  const verbs = [...text.matchAll(/^ {2}countersign ([a-z-]+)/gm)].map(([, verb = '']) => verb);
  for (const verb of ['inspect', 'explain', 'check', 'install']) assert.ok(verbs.includes(verb));
  for (const verb of verbs) assert.ok(existsSync(join(ROOT, 'src/cli/commands', verb)), verb);
  const created = [
    ...WORKLOADS.map(({ name }) => `pod/${name}`),
    ...named('denied.ts', /name: '([a-z-]+)'/g, 'pod'),
    ...named('people.ts', /#create\('([a-z-]+)'/g, 'csr'),
  ];
  const objects = [...text.matchAll(/\b(?:pod|csr)\/[a-z-]+/g)].map(([object]) => object);
  assert.ok(objects.length >= 3, objects.join());
  assert.deepEqual(
    objects.filter((each) => !created.includes(each)),
    [],
  );
  assert.match(text, /countersign install --values \/tmp\/c\/values\.yaml$/m);
  const [, page = ''] = /^More: (.*)$/m.exec(text) ?? [];
  assert.ok(page.endsWith('docs/how-to/try-the-demo.md') && existsSync(page), page);
});

test('a kept demo whose components are processes prints no command of installation', () => {
  assert.doesNotMatch(invitation({ ...KEPT, values: undefined }), /install/);
});

function named(step: string, name: RegExp, kind: string): readonly string[] {
  const text = readFileSync(join(ROOT, 'demo/steps', step), 'utf8');
  return [...text.matchAll(name)].map(([, found = '']) => `${kind}/${found}`);
}

test('without an image the demo prints how to get one, and stops', () => {
  const { code, said } = demo('--kubeconfig', '/none', '--image', '', '--yes');
  assert.equal(code, 2);
  for (const command of [/make image/, /kind load docker-image/, /minikube image load/])
    assert.match(said, command);
});

test('without a terminal the demo uses no cluster of the user unless --yes is there', () => {
  const asked = ['--kubeconfig', '/none', '--image', 'c:1'] as const;
  const { code, said } = demo(...asked);
  assert.deepEqual([code, /no terminal to ask on\. ARGS=--yes/.test(said)], [2, true], said);
});

test('the demo deletes nothing that appeared between its question and the answer', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'demo-answer-'));
  t.after(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const log = join(directory, 'log');
  writeFileSync(join(directory, 'kubectl'), kubectlOf(log), { mode: 0o755 });
  const PATH = `${directory}:${process.env['PATH'] ?? ''}`;
  const args = [join(ROOT, 'demo/main.ts'), '--kubeconfig', '/none', '--image', 'c:1', '--yes'];
  const env = { ...process.env, PATH };
  // A demo that goes on would wait for minutes until its objects are gone.
  const ended = { timeout: 120_000, killSignal: 'SIGKILL' } as const;
  const options = { encoding: 'utf8', env, ...ended } as const;
  const { status, stderr } = spawnSync(process.execPath, args, options);
  assert.equal(status, 1, stderr);
  assert.match(stderr, /has objects of these names already: namespace\/team-a\./);
  assert.doesNotMatch(readFileSync(log, 'utf8'), /^(?:delete|apply|create|scale)/m);
});

/** A kubectl whose cluster has the namespace team-a from the second look on. */
function kubectlOf(log: string): string {
  const answers = {
    config: { clusters: [{ cluster: { server: 'https://cluster.example' } }] },
    version: { major: '1', minor: '37', gitVersion: 'v1.37.0' },
    nodes: {
      items: [
        {
          metadata: {
            labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': 'node-1' },
          },
          spec: {},
          status: { conditions: [{ type: 'Ready', status: 'True' }] },
        },
      ],
    },
    empty: { items: [] },
  };
  const say = (value: object): string => `echo '${JSON.stringify(value)}'`;
  return `#!/bin/sh
echo "$*" >> ${log}
case "$*" in
  'config view'*) ${say(answers.config)} ;;
  *'/version'*) ${say(answers.version)} ;;
  'get nodes'*) ${say(answers.nodes)} ;;
  'get certificatesigningrequests'*) ${say(answers.empty)} ;;
  *' namespace/countersign-system '*)
    if [ "$(grep -c ' namespace/countersign-system ' ${log})" -gt 1 ]; then echo namespace/team-a; fi ;;
esac
`;
}

for (const [image, repository, tag, digest] of [
  ['countersign', 'countersign', 'latest', ''],
  ['countersign:1', 'countersign', '1', ''],
  ['registry.example:5000/a/b', 'registry.example:5000/a/b', 'latest', ''],
  ['registry.example:5000/a/b:c', 'registry.example:5000/a/b', 'c', ''],
  ['a/b@sha256:00', 'a/b', '', 'sha256:00'],
  ['a/b:c@sha256:00', 'a/b', 'c', 'sha256:00'],
] as const) {
  test(`the image ${image} is split where the kubelet splits it`, () => {
    assert.deepEqual(imageParts(image), { repository, tag, digest });
  });
}
