// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { postgresConnection } from '#ledger/database/postgres-url.ts';

const VERIFIED = { minVersion: 'TLSv1.2' };

test('the connection uses verified TLS unless the URL or a local host says otherwise', () => {
  for (const [url, ssl] of [
    ['postgresql://a@db.example/records', VERIFIED],
    ['postgres://a@db.example/records?sslmode=require', VERIFIED],
    ['postgresql://a@10.0.0.7/records?sslmode=verify-ca', VERIFIED],
    ['postgresql://a@db.example/records?sslmode=disable', false],
    ['postgresql://a@localhost/records', false],
    ['postgresql://a@127.0.0.1:6432/records', false],
    ['postgresql://a@[::1]/records', false],
    ['postgresql://a@127.0.0.1/records?sslmode=verify-full', VERIFIED],
    ['postgresql://a@localhost.example/records', VERIFIED],
  ] as const) {
    assert.deepEqual(postgresConnection(url).ssl, ssl, url);
  }
  const ca = 'PEM';
  const { ssl } = postgresConnection('postgresql://a@127.0.0.1/records', { ca });
  assert.deepEqual(ssl, { ca, ...VERIFIED });
});

test('what the URL says is used, and its parts are decoded once', () => {
  const { ssl: _, ...connection } = postgresConnection(
    'postgresql://led%40ger:a%2Fb%25@[2001:db8::1]:6432/re%20cords?application_name=x',
  );
  assert.deepEqual(connection, {
    host: '2001:db8::1',
    port: 6432,
    user: 'led@ger',
    password: 'a/b%',
    database: 're cords',
    application_name: 'x',
  });
  const password = (): Promise<string> => Promise.resolve('secret');
  assert.equal(postgresConnection('postgres://a@db.example/x', { password }).password, password);
});

for (const [what, url, ca] of [
  ['no URL', 'host=db user=a'],
  ['another scheme', 'https://a:hunter2@db.example/records'],
  ['no host', 'postgresql:///records'],
  ['a mode that may be answered without TLS', 'postgresql://a:hunter2@db.example/x?sslmode=prefer'],
  ['a certificate that nobody verifies', 'postgresql://a:hunter2@db.example/x?sslmode=no-verify'],
  ['a file that pg would read', 'postgresql://a:hunter2@db.example/x?sslrootcert=/etc/passwd'],
  [
    'CAs for a connection without TLS',
    'postgresql://a:hunter2@db.example/x?sslmode=disable',
    'PEM',
  ],
] as const) {
  test(`refused, and nothing of it is repeated: ${what}`, () => {
    assert.throws(
      () => postgresConnection(url, { ca }),
      (error) =>
        error instanceof SignerError &&
        error.code === 'USAGE' &&
        !/hunter2|db\.example|passwd/.test(error.message),
    );
  });
}
