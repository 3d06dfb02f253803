// SPDX-License-Identifier: Apache-2.0
/** Who may import whom. A failure names the culprit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PACKAGES } from './packages.ts';
import { componentFolders, folderOf, isIn, roomOf, withoutComments } from './places.ts';
import { circlesOf, readSource, readSources, type Source } from './sources.ts';

const sources = readSources();

/** Code without I/O. */
const PURE = [
  'kube/protobuf',
  'api',
  'pki',
  'cel',
  'ca/issuance',
  'ca/policy',
  'ca/rotation',
  'ca/revocation',
  'ca/ceremony',
  'ca/key-holder',
  'conformance/',
  'conformance/assertions',
  'conformance/certificaterequest',
  'conformance/csr',
  'conformance/ctb',
  'conformance/pcr',
  'conformance/report',
  'acme/orders',
  'workloads/refresh',
  'ledger/log',
  'ledger/records',
];

/** Room → the rooms below it that it may import. README.md of src says what each room is for. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  kube: ['base'],
  pki: ['base'],
  cel: ['base'],
  api: ['base', 'kube'],
  ca: ['base', 'pki', 'cel', 'api'],
  component: ['base', 'kube', 'cel', 'api'],
  ledger: ['base', 'kube', 'pki', 'api', 'ca', 'component'],
  requests: ['base', 'kube', 'pki', 'api', 'ca', 'component', 'ledger'],
  acme: ['base', 'kube', 'pki', 'api', 'component', 'requests'],
  trust: ['base', 'kube', 'pki', 'api', 'ca', 'component', 'requests', 'acme'],
  workloads: ['base', 'kube', 'pki', 'api', 'ca', 'component', 'ledger', 'requests'],
  notify: ['base', 'kube', 'pki', 'api', 'component', 'requests'],
  conformance: ['base', 'kube', 'pki', 'api'],
  install: [
    'base',
    'kube',
    'api',
    'ca',
    'component',
    'ledger',
    'requests',
    'acme',
    'trust',
    'workloads',
    'notify',
  ],
  // Install: each component compares the admission policies of the cluster with what is printed.
  app: ['base', 'kube', 'pki', 'api', 'ca', 'component', 'ledger', 'requests', 'install'],
  // Workloads: they judge annotations by the function with which pod-refresher reads them.
  operations: ['base', 'kube', 'pki', 'api', 'ca', 'component', 'workloads'],
  diagnose: ['base', 'kube', 'pki', 'api', 'ca', 'component', 'requests', 'install', 'operations'],
  library: ['base', 'kube', 'pki', 'api', 'ca', 'component', 'requests', 'install', 'app'],
  // Api to operations: the pages are what check, explain, issued and inspect read. Pki: they show
  // the anchors of bundles.
  console: ['base', 'kube', 'pki', 'api', 'ca', 'component', 'operations', 'diagnose'],
  cli: [
    'base',
    'kube',
    'pki',
    'api',
    'ca',
    'component',
    'ledger',
    'requests',
    'acme',
    'trust',
    'workloads',
    'conformance',
    'install',
    'app',
    'operations',
    'diagnose',
    'console',
  ],
};

/** None of them imports another. */
const COMPONENTS = componentFolders();

/** Rooms that list components: their roles, their flags, what they decide. */
const LISTS_COMPONENTS = ['install', 'diagnose', 'library', 'cli'];

/**
 * Code of a component → the components whose requests it answers. `acme` and `external-signer`
 * sign by the loops of two others, with a foreign CA in place of their own.
 */
const ANSWERS_FOR: Readonly<Record<string, readonly string[]>> = {
  'acme/acme/run.ts': ['requests/signer', 'requests/certificate-request'],
  'requests/external-signer/run.ts': ['requests/signer', 'requests/pcr-issuer'],
};

/**
 * Folder of the second level → its neighbours in the same room that it may import. A room's own
 * files and the folders inside it may import each other as long as no circle of files comes of it.
 */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  'base/egress': [],
  'kube/protobuf': [],
  'kube/wait': [],
  'kube/resource': [],
  'kube/client': ['protobuf', 'resource'],
  'kube/workqueue': ['wait'],
  'kube/watch': ['protobuf', 'resource', 'client', 'wait'],
  'kube/events': ['resource', 'client', 'wait', 'workqueue'],
  'kube/lease': ['protobuf', 'resource', 'client', 'wait', 'watch'],
  'kube/apply': ['protobuf', 'resource', 'client', 'watch'],
  'pki/der': [],
  'pki/keys': ['der'],
  'pki/names': ['der'],
  'pki/extensions': ['der', 'keys', 'names'],
  'pki/x509': ['der', 'keys', 'names', 'extensions'],
  'pki/keystores': ['der'],
  'cel/pattern': [],
  'cel/cost': ['pattern'],
  'cel/functions': ['cost', 'pattern'],
  'api/object': [],
  'api/request': ['object'],
  'api/signer': ['object', 'request'],
  'api/external': ['object', 'request', 'signer'],
  'api/serving': ['object', 'request', 'signer'],
  'api/workload': ['object', 'request'],
  'api/acme': ['object', 'request', 'signer'],
  'api/operator': ['object', 'request'],
  'api/revocation': ['object', 'request', 'signer'],
  'ca/issuance': [],
  'ca/policy': [],
  'ca/rotation': ['issuance'],
  'ca/upstream': ['issuance', 'rotation'],
  'ca/revocation': ['issuance'],
  'ca/key-holder': ['issuance'],
  'ca/custody': ['issuance', 'revocation', 'key-holder'],
  'ca/ceremony': ['issuance', 'revocation', 'custody'],
  'component/web': [],
  'component/signers': [],
  'component/rbac': [],
  'component/vault': [],
  'ledger/log': [],
  'ledger/records': ['log'],
  'ledger/sender': ['records'],
  'ledger/database': ['records'],
  'ledger/store': ['log', 'records', 'database'],
  'ledger/ledger': [],
  'requests/loop': [],
  'requests/recording': [],
  'requests/ca': ['loop'],
  'requests/issuing': ['loop', 'recording', 'ca'],
  'requests/approver': ['loop', 'recording'],
  'requests/signer': ['loop', 'recording', 'ca', 'issuing'],
  'requests/pcr-issuer': ['loop', 'recording', 'ca', 'issuing'],
  'requests/external-signer': ['loop', 'issuing', 'signer', 'pcr-issuer'],
  'requests/certificate-request': ['loop', 'recording', 'ca', 'issuing'],
  'acme/protocol': [],
  'acme/orders': ['protocol'],
  'acme/issuing': ['protocol', 'orders'],
  'acme/solving': [],
  'acme/acme': ['protocol', 'orders', 'issuing', 'solving'],
  'acme/acme-solver': ['solving'],
  'acme/acme-responder': ['solving'],
  'trust/spiffe': [],
  'trust/attester': [],
  'trust/authority': [],
  'trust/trust-distributor': [],
  'trust/bundle-endpoint': ['spiffe'],
  'trust/federation': ['spiffe'],
  'workloads/refresh': [],
  'workloads/pod-refresher': ['refresh'],
  'notify/notifier': [],
  'conformance/assertions': [],
  'conformance/report': [],
  'conformance/csr': ['assertions'],
  'conformance/ctb': ['assertions'],
  'conformance/pcr': ['assertions', 'csr'],
  'conformance/certificaterequest': ['assertions', 'csr'],
  'conformance/runner': ['csr', 'ctb', 'pcr', 'certificaterequest'],
  'install/admission': [],
  'install/fleet': ['admission'],
  'install/monitoring': [],
  'install/reconcile': [],
  'install/workloads': [],
  'install/values': ['admission'],
  'install/operator': ['admission', 'values', 'workloads', 'reconcile'],
  'install/cert-manager-operator': ['admission', 'operator', 'workloads', 'reconcile', 'values'],
  'app/ledger': [],
  'app/tracing': [],
  'operations/fleet': ['show'],
  'operations/deciding': [],
  'operations/verbs': [],
  'operations/pods': [],
  'operations/show': [],
  'operations/revoking': [],
  'diagnose/check': [],
  // A finding of check and its fix are the same in explain.
  'diagnose/explain': ['check'],
  'diagnose/inspect': [],
  'diagnose/lint': [],
  'library/calls': [],
  'library/issuers': ['calls'],
  'library/signing': ['calls', 'issuers'],
  'console/pages': [],
  'console/acting': [],
  'console/views': ['pages', 'acting'],
  'console/browser': ['pages', 'views'],
  'console/server': ['pages', 'acting', 'views'],
  'cli/conventions': [],
  'cli/sources': [],
  'cli/commands': ['sources'],
};

/** What pure code may use of Node: arithmetic on bytes and texts, no I/O. */
const PURE_NODE: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': [...PURE, 'base/'],
  'node:net': ['pki'],
  // domainToASCII
  'node:url': ['pki'],
  'node:util': ['pki'],
};

test('arrows go down only, and never sideways between components', () => {
  assert.deepEqual(sources.flatMap(wrongImports), []);
});

test('a package is imported where it belongs, and nowhere else', () => {
  assert.deepEqual(sources.flatMap(wrongPackages), []);
});

test('neighbours inside a room import each other in one direction only', () => {
  assert.deepEqual(sources.flatMap(wrongNeighbours), []);
});

test('each folder of the second level says which of its neighbours it may import', () => {
  const folders = new Set(sources.map(({ path }) => folderOf(path)));
  const named = [...folders].filter((folder) => !folder.endsWith('/')).sort();
  assert.deepEqual(named, Object.keys(INSIDE).sort());
});

test('each room says which rooms it may import, and lists those above it nowhere', () => {
  const rooms = [...new Set(sources.map(({ path }) => roomOf(path)))];
  assert.deepEqual(rooms.sort(), Object.keys(ARROWS).sort());
  const order = Object.keys(ARROWS);
  const upwards = order.flatMap((room, index) =>
    (ARROWS[room] ?? [])
      .filter((below) => order.indexOf(below) >= index)
      .map((each) => [room, each]),
  );
  assert.deepEqual(upwards, []);
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
    .filter(({ text }) => /\bprocess\.std(?:out|err)\b|\bconsole\.\w+\(/.test(text))
    .map(({ path }) => path);
  assert.deepEqual(writers, ['cli/terminal.ts']);
});

test('time, randomness and waiting are passed in by app and cli', () => {
  const global = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bset(?:Timeout|Interval)\(/;
  assert.deepEqual(outsideApp(global, 'has a clock, randomness or a timer of its own'), []);
});

// The rules are seen to bite.
const wrong: [path: string, text: string, says: string][] = [
  ['ca/policy/x.ts', "import '#requests/loop/y.ts';", 'ca/policy/x.ts imports requests/loop/y.ts'],
  ['api/x.ts', "import type { Y } from '#pki/y.ts';", 'api/x.ts imports pki/y.ts'],
  ['base/errors.ts', "export * from '#api/y.ts';", 'base/errors.ts imports api/y.ts'],
  ['ca/policy/x.ts', "import '../issuance/y.ts';", 'ca/policy/x.ts imports ca/issuance/y.ts'],
  [
    'requests/signer/x.ts',
    "await import('../approver/y.ts');",
    'requests/signer/x.ts imports requests/approver/y.ts',
  ],
  [
    'trust/federation/x.ts',
    "import '#acme/acme/y.ts';",
    'trust/federation/x.ts imports acme/acme/y.ts',
  ],
  ['app/x.ts', "import '#acme/acme/act.ts';", 'app/x.ts imports acme/acme/act.ts'],
  ['kube/client/x.ts', "import '../watch/y.ts';", 'kube/client/x.ts imports kube/watch/y.ts'],
  ['pki/x.ts', "import 'pkijs';", 'pki/x.ts imports pkijs'],
  ['kube/client.ts', "import 'yaml';", 'kube/client.ts imports yaml'],
  ['ca/issuance/x.ts', "import 'node:fs';", 'ca/issuance/x.ts imports node:fs'],
];

for (const [path, text, says] of wrong) {
  test(`found: ${says}`, () => {
    const source = readSource(path, text);
    const found = new Set(
      [wrongImports, wrongNeighbours, wrongPackages].flatMap((look) => look(source)),
    );
    assert.deepEqual([...found], [says]);
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
  const room = roomOf(path);
  const allowed = ARROWS[room] ?? [];
  const wrongOnes = imports.filter((each) => {
    if (each === '../package.json') return room !== 'app';
    if (roomOf(each) !== room && !allowed.includes(roomOf(each))) return true;
    return isOfAnotherComponent(path, each);
  });
  return wrongOnes.map((each) => `${path} imports ${each}`);
}

/**
 * Whether `target` lies in the folder of a component, and `path` neither there nor in a room that
 * lists components.
 */
function isOfAnotherComponent(path: string, target: string): boolean {
  const component = folderOf(target);
  if (!COMPONENTS.includes(component) || folderOf(path) === component) return false;
  if (ANSWERS_FOR[path]?.includes(component) === true) return false;
  return !LISTS_COMPONENTS.includes(roomOf(path));
}

function wrongPackages({ path, packages }: Source): readonly string[] {
  const isPure = isIn(path, PURE) || folderOf(path) === 'base/';
  const wrongOnes = packages.filter((name) =>
    name.startsWith('node:')
      ? (isPure && !isIn(path, PURE_NODE[name] ?? [])) || isProcess(name, path)
      : !isIn(path, PACKAGES[name] ?? []),
  );
  return wrongOnes.map((name) => `${path} imports ${name}`);
}

function wrongNeighbours({ path, imports }: Source): readonly string[] {
  const folder = folderOf(path);
  if (folder.endsWith('/')) return [];
  const allowed = (INSIDE[folder] ?? []).map((name) => `${roomOf(path)}/${name}`);
  return imports
    .filter((each) => roomOf(each) === roomOf(path) && !folderOf(each).endsWith('/'))
    .filter((each) => folderOf(each) !== folder && !allowed.includes(folderOf(each)))
    .map((each) => `${path} imports ${each}`);
}

function isProcess(name: string, path: string): boolean {
  return name === 'node:process' && !APP.includes(roomOf(path));
}

/** The composition root and the command line: where the process itself is at hand. */
const APP: readonly string[] = ['app', 'cli'];

function outsideApp(pattern: RegExp, what: string): readonly string[] {
  return sources
    .filter(({ path, text }) => !APP.includes(roomOf(path)) && pattern.test(withoutComments(text)))
    .map(({ path }) => `${path} ${what}`);
}
