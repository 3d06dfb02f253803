// SPDX-License-Identifier: Apache-2.0
/** What a person reads of an object that is not there: its name, and no path of the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextAfter, plainMessage } from '#cli/conventions/usage-errors.ts';
import { program } from '#cli/program.ts';
import { withNamespaceHint } from '#cli/subject.ts';
import { SignerError } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';

const root = program('countersign', () => {
  throw new Error('no exit here');
});

function missing(path: string): KubeError {
  return new KubeError({ status: 404, what: `GET ${path}`, body: { reason: 'NotFound' } });
}

test('an unknown signer is named, with the command that lists those there are', () => {
  const error = missing('/apis/countersign.dev/v1alpha1/clustersigners/pepole');
  assert.equal(plainMessage(error), 'there is no clustersigners.countersign.dev/pepole');
  assert.equal(
    nextAfter(error, root, ['authority', 'show', 'pepole']),
    'kubectl get clustersigners.countersign.dev',
  );
  const pod = missing('/api/v1/namespaces/shop/pods/web');
  assert.equal(plainMessage(pod), 'there is no pods/web in namespace shop');
  assert.equal(nextAfter(pod, root, ['revoke']), 'kubectl get pods -n shop');
});

test('an error about a file has the flag that names the file', () => {
  const path = '/run/countersign/notifier/ca.crt';
  const error = Object.assign(new Error('no'), { code: 'ENOENT', syscall: 'open', path });
  const message = `cannot open ${path}: there is no such file (ENOENT)`;
  for (const flags of [['--target-ca', path], [`--target-ca=${path}`]])
    assert.equal(plainMessage(error, ['notifier', ...flags]), `${message} (--target-ca)`);
  assert.equal(plainMessage(error, ['inspect', path]), message);
});

test('a collection that is not served keeps the words of the API server', () => {
  const error = missing('/apis/countersign.dev/v1alpha1/clustersigners');
  assert.match(plainMessage(error), /404 NotFound/);
});

test('what an error says to type next counts, not the help of the command', () => {
  const error = new SignerError({
    code: 'USAGE',
    disposition: 'wait',
    message: 'timed out',
    next: 'countersign explain csr/r-jane',
  });
  assert.equal(nextAfter(error, root, ['request']), 'countersign explain csr/r-jane');
});

for (const [there, says] of [
  [false, /namespace shp does not exist; kubectl get namespaces/],
  [true, /it was looked up in shp; -n names another/],
] as const) {
  test(`a pod in a namespace that is ${there ? 'there' : 'missing'}`, async () => {
    const client = recordedClient();
    client.answer(({ path }) => {
      if (!there) throw missing(path);
      return {};
    });
    const subject = { kind: 'pod', name: 'web', namespace: 'shp' };
    const error = await withNamespaceHint(missing('/x'), subject, client);
    assert.match((error as Error).message, says);
  });
}

test('an object of a cluster-scoped kind has no hint, and no namespace is read', async () => {
  for (const [kind, namespace] of [
    ['csr', ''],
    ['ctb', 'shop'],
    ['certificatesigningrequest.certificates.k8s.io', 'shop'],
  ] as const) {
    const client = recordedClient();
    const subject = { kind, name: 'typo', namespace };
    const error = await withNamespaceHint(missing('/x'), subject, client);
    assert.equal((error as Error).message, `there is no ${kind}/typo`);
    assert.deepEqual(client.requests, []);
  }
});
