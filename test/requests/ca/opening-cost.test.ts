// SPDX-License-Identifier: Apache-2.0
/** What it costs everybody that a namespace may rewrite the Secret of its CA in a loop. */
import assert from 'node:assert/strict';
import crypto, { type KeyObject } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test, type TestContext } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createOpenedSecrets } from '#requests/ca/opened-secrets.ts';
import { BUDGET_MS_PER_SECOND } from '#component/signers/namespace-budget.ts';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import { openIntermediate } from '../../support/ca/intermediate.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../../support/pki/chain.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { startFakeThread, type FakeThread } from '../../support/requests/fake-thread.ts';
import { workload } from '../../support/signers/workload-profile.ts';

/** Of P-521, 1.5 ms each: what is promised is 20 ms. */
const MAX_SIGNATURES = 8;

const isCa = [ca(), usage()];
const root = link('root', { extensions: [...isCa, ...keyIds('root')] });
const issuing = link('issuing', {
  by: root,
  extensions: [...isCa, ...keyIds('issuing', 'root')],
});

/** Other certificates of the root's name and key identifier: each takes a signature to rule out. */
function decoys(count: number): readonly Link[] {
  const key = privateKey('P-256', 'decoy');
  return Array.from({ length: count }, (_, index) =>
    link('root', {
      key,
      serial: Uint8Array.of(2, 1, index),
      extensions: [...isCa, ...keyIds('root')],
    }),
  );
}

function secretWith(chain: readonly Link[], anchors: readonly Link[]): Secret {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const pem = (links: readonly Link[]): string =>
    base64(
      links
        .map(({ certificate }) => new crypto.X509Certificate(certificate.raw).toString())
        .join(''),
    );
  const key = issuing.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const metadata = { namespace: 'team-a', name: 'ca', uid: 'uid', resourceVersion: '1' };
  const data = { 'tls.crt': pem(chain), 'tls.key': base64(key), 'ca.crt': pem(anchors) };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data } as unknown as Secret;
}

function signaturesFor(t: TestContext, signer: ClusterSigner, secret: Secret): number {
  const verify = t.mock.method(crypto, 'verify');
  syncBuiltinESMExports();
  t.after(() => {
    verify.mock.restore();
    syncBuiltinESMExports();
  });
  const { open } = createOpenedSecrets(openLocalAuthority, () => NOW);
  try {
    open(secret, signer);
  } catch (error) {
    assert.match(String(error), /signatures to try/);
  }
  return verify.mock.callCount();
}

test('opening a Signer’s CA verifies eight signatures at most, whatever the Secret', (t) => {
  const secret = secretWith([issuing, ...decoys(4)], [...decoys(8), root]);
  const signer = teamSigner({ namespace: 'team-signatures' });
  assert.equal(signaturesFor(t, signer, secret), MAX_SIGNATURES);
});

test('nor more where each certificate may be a root, or lead from the CA to one', (t) => {
  const keyOf = (index: number): KeyObject => privateKey('P-256', `hostile ${index}`);
  const roots = [1, 2, 3, 4].map((index) =>
    link('top', { key: keyOf(index), extensions: isCa, serial: Uint8Array.of(2, 1, index) }),
  );
  const anchor = link('root', {
    by: { name: 'top', key: keyOf(0) },
    extensions: [...isCa, ...keyIds('root')],
  });
  const unlike = [1, 2, 3, 4].map((index) =>
    link('root', {
      key: keyOf(index),
      by: { name: 'top', key: keyOf(0) },
      extensions: isCa,
      serial: Uint8Array.of(2, 1, 16 + index),
    }),
  );
  const secret = secretWith([issuing, ...roots, ...unlike], [anchor]);
  const signer = teamSigner({ namespace: 'team-roots' });
  assert.equal(signaturesFor(t, signer, secret), MAX_SIGNATURES);
});

test('the CA of a ClusterSigner is its administrator’s: the root is found among many', (t) => {
  const secret = secretWith([issuing], [...decoys(12), root]);
  // And one that the root signed itself.
  assert.equal(signaturesFor(t, workload(), secret), 14);
});

/** What opening takes of the thread in these tests. */
const OPENING_MS = 10;

/**
 * Opens versions of a Secret until the namespace has to wait. @returns how often it was opened
 */
function rewritten(signer: ClusterSigner, most: number, thread: FakeThread): number {
  let count = 0;
  const authority = openIntermediate();
  const open = (): typeof authority => {
    count += 1;
    thread.work(OPENING_MS);
    return authority;
  };
  const opened = createOpenedSecrets(open, () => NOW);
  const { metadata, ...rest } = secretWith([issuing], [root]);
  for (let version = 1; version <= most; version += 1) {
    const resourceVersion = String(version);
    try {
      opened.open({ ...rest, metadata: { ...metadata, resourceVersion } }, signer);
    } catch (error) {
      assert.ok(error instanceof EvaluationDeferred, String(error));
      break;
    }
  }
  return count;
}

test('a Signer’s Secret rewritten in a loop is opened on its namespace’s budget', async (t) => {
  const thread = await startFakeThread(t);
  const signer = teamSigner({ namespace: 'team-rewriting' });
  // A budget begins full when the first work is charged. The time of each later one earns a tenth
  // of what it spends.
  const each = OPENING_MS * (1 - BUDGET_MS_PER_SECOND / 1_000);
  const most = 1 + Math.ceil((BUDGET_MS_PER_SECOND - OPENING_MS) / each);
  assert.equal(rewritten(signer, 1_000, thread), most);
  thread.sleep(1_000);
  assert.ok(rewritten(signer, 1_000, thread) >= 1, 'it is opened again once the budget allows it');
});

test('that of a ClusterSigner is opened as often as its administrator writes it', async (t) => {
  assert.equal(rewritten(workload(), 30, await startFakeThread(t)), 30);
});
