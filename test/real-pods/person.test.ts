// SPDX-License-Identifier: Apache-2.0
/**
 * A person starts `make cluster ARGS="--real-pods --acme"` and pastes what README.md and the
 * cluster print into a shell, in this order.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { ACME_PART } from '../cluster/next-steps.ts';
import { startPersonsCluster, type PersonsCluster } from './persons-cluster.ts';
import { readmeBlock, SHOWN } from './readme-commands.ts';
import { SKIP } from './stand.ts';

describe('the cluster that a person starts', { skip: SKIP }, () => {
  let cluster: PersonsCluster;
  /** The part that says how the cluster is reached. */
  let access = '';
  let acme = '';
  before(async () => {
    cluster = await startPersonsCluster(['--real-pods', '--acme'], 'openssl verify');
    const part = cluster.printed.indexOf(ACME_PART);
    [access, acme] = [cluster.printed.slice(0, part), cluster.printed.slice(part)];
  });
  after(() => {
    cluster.kill();
  });

  const paste = (text: string): Promise<string> => cluster.paste(access, text, roomOf());

  const roomOf = (): string => {
    const [, values = ''] = /--values (?<file>\S+)/.exec(acme) ?? [];
    return dirname(values);
  };

  test('README.md installs it, and a pod gets its certificate', async () => {
    await paste(readmeBlock('helm install'));
    const ready = 'kubectl wait --for=condition=Ready pod/web -n team-a --timeout=3m';
    assert.match(await paste(ready), /condition met/);
  });

  for (const [command, shown] of Object.entries(SHOWN))
    test(`README.md: ${command}`, async () => {
      assert.match(await paste(command), shown);
    });

  test('a certificate of the local ACME server comes by what is printed', async () => {
    assert.match(await paste(acme), /www\.example\.com\.crt: OK\n$/);
    const subject = `openssl x509 -in ${roomOf()}/www.example.com.crt -noout -issuer -ext subjectAltName`;
    const leaf = await paste(subject);
    assert.match(leaf, /issuer=.*Pebble Intermediate/);
    assert.match(leaf, /DNS:www\.example\.com\n/);
    assert.ok(!existsSync(join(roomOf(), 'www.example.com.kubeconfig')), 'it is for no API server');
  });

  test('its server answers on this machine, too, by the CA at hand', async () => {
    const [, url = ''] = /(?<url>https:\/\/127\.0\.0\.1:\d+\/dir) here/.exec(acme) ?? [];
    const script = `fetch('${url}').then((answer) => answer.json()).then((it) => console.log(Object.keys(it).sort().join()))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
      env: { NODE_EXTRA_CA_CERTS: join(roomOf(), 'ca.pem') },
    });
    assert.match(stdout, /newAccount,newNonce,newOrder/);
  });

  test('an image of a server runs where a pod says nothing but its name', async () => {
    const said = await paste(`
      kubectl create deployment hello --image=nginx:1.29
      kubectl expose deployment hello --port=80
      kubectl wait --for=condition=Available deployment/hello --timeout=2m
      kubectl create job asking --image=curlimages/curl:8.16.0 -- curl -sS --retry 20 --retry-all-errors http://hello
      kubectl wait --for=condition=Complete job/asking --timeout=2m
      kubectl logs job/asking`);
    assert.match(said, /Welcome to nginx\n$/);
  });

  test('Ctrl-C ends it, and nothing is left', async () => {
    assert.deepEqual(await cluster.interrupt(), [0, null]);
    assert.ok(!existsSync(roomOf()));
  });
});
