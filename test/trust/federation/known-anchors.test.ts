// SPDX-License-Identifier: Apache-2.0
/** SPIFFE Federation §5.2.1.4, §5.2.2.2, §5.2.2.4. */
import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { knownAnchors } from '#trust/federation/known-anchors.ts';
import { readForeignDomain } from '#trust/spiffe/foreign-domain.ts';
import { writeBundle } from '#trust/spiffe/write-bundle.ts';
import { pemOf, spiffeCa } from '../../support/trust/certificates.ts';

const CA = spiffeCa('CA');
const directory = await mkdtemp(join(tmpdir(), 'known-'));
const none = (): undefined => undefined;
const self = readForeignDomain('a.example,https_spiffe,spiffe://a.example/e,https://x/');
const other = readForeignDomain('b.example,https_spiffe,spiffe://a.example/e,https://x/');

test('https_web needs nothing else; a file of CAs replaces those of the web', async () => {
  const web = readForeignDomain('web.example,https_web,https://x/');
  assert.deepEqual(await knownAnchors(web, directory, none), { anchors: undefined });
  await writeFile(join(directory, 'web.example.crt'), 'PEM');
  assert.deepEqual(await knownAnchors(web, directory, none), { anchors: 'PEM' });
});

test('the first bundle is a file in SPIFFE’s format or PEM; without it none is fetched', async () => {
  const without = await knownAnchors(self, directory, none);
  assert.match(
    'problem' in without ? without.problem : '',
    /as a\.example\.json or a\.example\.pem into Secret countersign-federation-files or, /,
  );
  const anchors = [CA.certificate];
  const document = writeBundle({ anchors, sequence: 1n, refreshSeconds: 60 });
  await writeFile(join(directory, 'a.example.json'), document);
  for (const domain of [self, other])
    assert.deepEqual(await knownAnchors(domain, directory, none), { anchors: pemOf(CA) });
  await writeFile(join(directory, 'a.example.pem'), 'PEM');
  assert.deepEqual(await knownAnchors(self, directory, none), { anchors: 'PEM' });
});

test('the latest bundle of the server’s trust domain goes before the file', async () => {
  const latest = (domain: string): string => `of ${domain}`;
  for (const domain of [self, other])
    assert.deepEqual(await knownAnchors(domain, directory, latest), { anchors: 'of a.example' });
});
