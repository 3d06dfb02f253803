// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindNamed, NAMED_KINDS } from '#diagnose/kinds.ts';

const ENTRIES = Object.entries(NAMED_KINDS);

test('each name and each alias is of one kind', () => {
  const names = ENTRIES.flatMap(([name, { aliases }]) => [name, ...aliases]);
  assert.deepEqual(
    names.filter((each, index) => names.indexOf(each) !== index),
    [],
  );
  for (const [name, { aliases }] of ENTRIES)
    for (const each of [name, ...aliases]) assert.equal(kindNamed(each.toUpperCase()), name);
});

test('a word that names no kind has none', () => {
  for (const word of ['', 'constructor', 'node']) assert.equal(kindNamed(word), undefined);
});

test('a kind with a fixed API has the resource of its name', async () => {
  const fixed = ENTRIES.filter(([name]) => name !== 'pcr' && name !== 'ctb');
  for (const [name, kind] of fixed) {
    const { plural } = await kind.resource({} as never);
    assert.ok([`${name}s`, ...kind.aliases].includes(plural), `${name}: ${plural}`);
  }
});

test('a kind with its group is the one that kubectl get -o name prints', () => {
  const printed = {
    'certificatesigningrequest.certificates.k8s.io': 'csr',
    'podcertificaterequest.certificates.k8s.io': 'pcr',
    'clustertrustbundle.certificates.k8s.io': 'ctb',
    'certificaterequest.cert-manager.io': 'certificaterequest',
    'clustersigner.countersign.dev': 'signer',
    'externalclustersigner.countersign.dev': 'externalclustersigner',
    'order.acme.countersign.dev': 'order',
    'deployment.apps': 'deployment',
  };
  for (const [word, kind] of Object.entries(printed)) assert.equal(kindNamed(word), kind, word);
});

test('a kind of another group is none of these', () => {
  for (const word of ['signer.countersign.dev', 'certificaterequest.example.com', 'pod.apps'])
    assert.equal(kindNamed(word), undefined, word);
});
