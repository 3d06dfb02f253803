// SPDX-License-Identifier: Apache-2.0
/** Who may import whom. A failure names the culprit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PACKAGES } from './packages.ts';
import { folderOf, isController, isIn, roomOf, unitOf, withoutComments } from './places.ts';
import { circlesOf, readSource, readSources, type Source } from './sources.ts';

const sources = readSources();

const CORE = ['protobuf', 'api', 'pki', 'cel', 'issuance', 'policy', 'rotation', 'revocation'];
const PURE = [...CORE, 'conformance', 'acme-orders', 'refreshing', 'ledger/log', 'ledger/records'];
const SERVED = [...CORE, 'kube', 'spiffe', 'authorities/contract.ts'];

/** Folder → what it may import besides itself and L0, the files of `src` itself. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  '': [],
  protobuf: [],
  api: ['protobuf'],
  pki: [],
  cel: [],
  issuance: ['api', 'pki', 'cel'],
  policy: ['api', 'pki', 'cel'],
  rotation: ['api', 'pki', 'issuance'],
  revocation: ['api', 'pki', 'issuance'],
  egress: [],
  spiffe: ['pki', 'api/object/federated-bundle.ts'],
  conformance: ['api', 'pki'],
  'acme-orders': ['api', 'acme/answer.ts'],
  ledger: ['pki', 'egress'],
  refreshing: ['api', 'pki'],
  authorities: ['issuance', 'pki', 'revocation'],
  keystores: ['pki'],
  webhooks: [],
  linting: ['api', 'pki', 'issuance'],
  inspecting: ['api', 'pki', 'keystores', 'operations/show'],
  kube: ['protobuf'],
  reconciling: ['kube'],
  installing: ['api', 'kube', 'runtime', 'reconciling'],
  web: [],
  acme: ['pki', 'egress'],
  'acme-issuing': ['api/signer/reserved-names.ts', 'pki', 'acme', 'acme-orders'],
  'acme-solving': ['api', 'kube', 'acme/exchange.ts', 'egress'],
  runtime: [...SERVED, 'ledger/records', 'ledger/sender'],
  controllers: [
    ...SERVED,
    ...['runtime', 'acme', 'acme-orders', 'acme-issuing', 'acme-solving', 'egress'],
    ...['ledger', 'reconciling', 'installing', 'refreshing', 'keystores', 'webhooks'],
  ],
  'conformance-runner': ['api', 'pki', 'kube', 'conformance'],
  manifests: [
    ...['api', 'kube/resource', 'runtime/rbac', 'controllers', 'reconciling/objects'],
    ...['installing/desired.ts', 'refreshing', 'ledger/sender'],
  ],
  operations: [...CORE, 'kube', 'runtime', 'app'],
  // Manifests: each component compares the admission policies of the cluster with what is printed.
  app: [
    ...SERVED,
    ...[
      'runtime',
      'web',
      'manifests',
      'acme',
      'acme-solving',
      'egress',
      'ledger',
      '../package.json',
    ],
  ],
  // Controllers: what a rule says is asked of the code that decides.
  explanations: [...CORE, 'kube', 'runtime', 'app', 'operations', 'controllers'],
  checks: [...CORE, 'kube', 'runtime', 'app', 'manifests', 'operations', 'reconciling'],
  library: [...SERVED, 'runtime', 'controllers', 'authorities', 'app', 'manifests'],
  cli: [
    ...SERVED,
    ...['runtime', 'controllers', 'authorities', 'conformance', 'conformance-runner'],
    ...['acme-solving', 'refreshing', 'installing', 'ledger', 'keystores', 'inspecting', 'linting'],
    ...['acme/exchange.ts', 'egress'],
    ...['app', 'manifests', 'operations', 'checks', 'explanations', 'reconciling'],
  ],
};

/**
 * Folder of the second level → its neighbours in the same room that it may import. A room's own files and the
 * folders inside it may import each other as long as no circle of files comes of it.
 */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  'api/object': [],
  'api/request': ['object'],
  'api/signer': ['object', 'request'],
  'api/serving': ['object', 'request', 'signer'],
  'api/workload': ['object', 'request'],
  'api/acme': ['object', 'request', 'signer'],
  'acme-orders/status': [],
  'api/operator': ['object', 'request'],
  'api/revocation': ['object', 'request', 'signer'],
  'pki/der': [],
  'pki/keys': ['der'],
  'pki/names': ['der'],
  'pki/extensions': ['der', 'keys', 'names'],
  'pki/x509': ['der', 'keys', 'names', 'extensions'],
  'kube/wait': [],
  'kube/resource': [],
  'kube/client': ['resource'],
  'kube/workqueue': ['wait'],
  'kube/watch': ['resource', 'client', 'wait'],
  'kube/events': ['resource', 'client', 'wait', 'workqueue'],
  'kube/lease': ['resource', 'client', 'wait', 'watch'],
  ...{ 'app/acme': [], 'app/ledger': [], 'app/tracing': [], 'app/spiffe': [] },
  'acme-solving/http': [],
  'reconciling/objects': [],
  'runtime/recording': [],
  'runtime/component': ['recording'],
  'runtime/rbac': ['component'],
  'runtime/signers': ['component'],
  'runtime/requests': ['component', 'signers'],
  'runtime/ca': ['component', 'signers', 'requests'],
  'runtime/issuing': ['component', 'recording', 'requests', 'ca'],
  'manifests/components': [],
  'manifests/admission': [],
  'manifests/workloads': ['components'],
  'manifests/values': ['admission'],
  'manifests/monitoring': [],
  ...{ 'checks/catalogue': [], 'checks/reading': [] },
  'manifests/operator': ['admission', 'values', 'workloads'],
  'manifests/cert-manager': ['admission', 'operator', 'workloads'],
  'operations/verbs': [],
  'operations/pods': [],
  'operations/show': [],
  'operations/revoking': [],
  'library/calls': [],
  'library/issuers': ['calls'],
  'library/signing': ['calls', 'issuers'],
  'cli/components': [],
  'cli/manners': [],
  'cli/sources': [],
  'cli/commands': ['sources'],
  'explanations/pods': [],
  'explanations/waiting': [],
  'conformance/assertions': [],
  'conformance/report': [],
  'conformance/csr': ['assertions'],
  'conformance/ctb': ['assertions'],
  'conformance/pcr': ['assertions', 'csr'],
  'conformance/certificaterequest': ['assertions', 'csr'],
  'conformance-runner/csr': [],
  'conformance-runner/certificaterequest': ['csr'],
  'conformance-runner/pcr': [],
  'conformance-runner/ctb': ['csr', 'pcr'],
  'acme-solving/dns': [],
  'acme-solving/dns01': ['dns'],
  'policy/violations': [],
  'ledger/log': [],
  'ledger/records': ['log'],
  'ledger/sender': ['records'],
  'ledger/database': ['records'],
  'ledger/store': ['log', 'records', 'database'],
  'issuance/lint': [],
  'cel/pattern': [],
  'cel/cost': ['pattern'],
  'cel/functions': ['cost', 'pattern'],
};

/** What pure code may use of Node: arithmetic on bytes and texts, no I/O. */
const PURE_NODE: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': PURE,
  'node:net': ['pki'],
  'node:util': ['pki'],
};

test('arrows go down only, and never sideways between controllers', () => {
  assert.deepEqual(sources.flatMap(wrongImports), []);
});

test('a package is imported where it belongs, and nowhere else', () => {
  assert.deepEqual(sources.flatMap(wrongPackages), []);
});

test('neighbours inside a room import each other in one direction only', () => {
  assert.deepEqual(sources.flatMap(wrongNeighbours), []);
});

test('each folder of the second level that has neighbours says which of them it may import', () => {
  const rooms = new Set(sources.map(({ path }) => roomOf(path)).filter((room) => room !== ''));
  const unnamed = [...rooms].filter((room) => !isController(room) && INSIDE[room] === undefined);
  assert.deepEqual(unnamed, []);
  assert.deepEqual(
    Object.keys(INSIDE).filter((room) => !rooms.has(room)),
    [],
  );
});

test('no circle of files, whether by types or by values', () => {
  assert.deepEqual(circlesOf(sources), []);
});

test('only app and cli read flags and the environment, and end the process', () => {
  const global = /\bprocess\.(?:env|argv|exit|exitCode)\b/;
  assert.deepEqual(outsideApp(global, 'reads or ends the process'), []);
});

test('only one file writes to the terminal, where it escapes what strangers wrote', () => {
  const writers = sources
    .filter(({ text }) => /\bprocess\.std(?:out|err)\b|\bconsole\./.test(text))
    .map(({ path }) => path);
  assert.deepEqual(writers, ['cli/terminal.ts']);
});

test('time, randomness and waiting are passed in by app and cli', () => {
  const global = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bset(?:Timeout|Interval)\(/;
  assert.deepEqual(outsideApp(global, 'has a clock, randomness or a timer of its own'), []);
});

// The rules are seen to bite.
const wrong: [path: string, text: string, says: string][] = [
  ['policy/x.ts', "import '../kube/y.ts';", 'policy/x.ts imports kube/y.ts'],
  ['api/x.ts', "import type { Y } from '../pki/y.ts';", 'api/x.ts imports pki/y.ts'],
  ['errors.ts', "export * from './api/y.ts';", 'errors.ts imports api/y.ts'],
  ['policy/x.ts', "import '../issuance/y.ts';", 'policy/x.ts imports issuance/y.ts'],
  [
    'controllers/signer/x.ts',
    "await import('../approver/y.ts');",
    'controllers/signer/x.ts imports controllers/approver/y.ts',
  ],
  [
    'runtime/ca/x.ts',
    "import '../../authorities/local.ts';",
    'runtime/ca/x.ts imports authorities/local.ts',
  ],
  ['kube/client/x.ts', "import '../watch/y.ts';", 'kube/client/x.ts imports kube/watch/y.ts'],
  ['pki/x.ts', "import 'pkijs';", 'pki/x.ts imports pkijs'],
  ['kube/client.ts', "import 'yaml';", 'kube/client.ts imports yaml'],
  ['issuance/x.ts', "import 'node:fs';", 'issuance/x.ts imports node:fs'],
];

for (const [path, text, says] of wrong) {
  test(`found: ${says}`, () => {
    const source = readSource(path, text);
    const found = [wrongImports, wrongNeighbours, wrongPackages].flatMap((look) => look(source));
    assert.deepEqual(found, [says]);
  });
}

test('found: a circle, by the names of its files', () => {
  const circle = [
    readSource('pki/x.ts', "import type { Y } from './y.ts';"),
    readSource('pki/y.ts', "import { z } from './z.ts';"),
    readSource('pki/z.ts', "import { x } from './x.ts';"),
  ];
  assert.deepEqual(circlesOf(circle), ['pki/x.ts → pki/y.ts → pki/z.ts → pki/x.ts']);
});

function wrongImports({ path, imports }: Source): readonly string[] {
  const folder = folderOf(path);
  const allowed = ARROWS[folder] ?? [];
  const wrongOnes = imports.filter((each) => {
    if (folderOf(each) === '') return false;
    return unitOf(each) !== unitOf(path) && !isIn(each, allowed);
  });
  return wrongOnes.map((each) => `${path} imports ${each}`);
}

function wrongPackages({ path, packages }: Source): readonly string[] {
  const isPure = folderOf(path) === '' || isIn(path, PURE);
  const wrongOnes = packages.filter((name) =>
    name.startsWith('node:')
      ? (isPure && !isIn(path, PURE_NODE[name] ?? [])) || isProcess(name, path)
      : !isIn(path, PACKAGES[name] ?? []),
  );
  return wrongOnes.map((name) => `${path} imports ${name}`);
}

function wrongNeighbours({ path, imports }: Source): readonly string[] {
  const room = roomOf(path);
  const neighbours = imports.filter(
    (each) => roomOf(each) !== '' && roomOf(each) !== room && folderOf(each) === folderOf(path),
  );
  if (room === '' || isController(room)) return [];
  const allowed = (INSIDE[room] ?? []).map((name) => `${folderOf(path)}/${name}`);
  return neighbours
    .filter((each) => !allowed.includes(roomOf(each)))
    .map((each) => `${path} imports ${each}`);
}

function isProcess(name: string, path: string): boolean {
  return name === 'node:process' && !APP.includes(folderOf(path));
}

/** The composition root and the command line: where the process itself is at hand. */
const APP: readonly string[] = ['app', 'cli'];

function outsideApp(pattern: RegExp, what: string): readonly string[] {
  return sources
    .filter(
      ({ path, text }) => !APP.includes(folderOf(path)) && pattern.test(withoutComments(text)),
    )
    .map(({ path }) => `${path} ${what}`);
}
