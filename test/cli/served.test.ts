// SPDX-License-Identifier: Apache-2.0
/** `countersign inspect https://…`: the chain that a server presents, whatever it is worth. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type Server, type TlsOptions } from 'node:tls';
import { after, before, test } from 'node:test';
import { servedChain } from '#cli/sources/served.ts';

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'served-'));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-subj',
    '/CN=ca',
    '-days',
    '3',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
  openssl('req', ...key, '-subj', '/CN=leaf', '-keyout', 'leaf.key', '-out', 'leaf.csr');
  openssl(
    'x509',
    '-req',
    '-in',
    'leaf.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-days',
    '2',
    '-out',
    'leaf.pem',
  );
});
after(() => {
  rmSync(directory, { recursive: true });
});

async function served(options: TlsOptions, serverName?: string): Promise<string> {
  const server = createTlsServer({
    cert: `${read('leaf.pem')}${read('ca.pem')}`,
    key: read('leaf.key'),
    ...options,
  });
  // A client that leaves is no failure of the server.
  server.on('tlsClientError', () => undefined);
  const port = await listening(server);
  try {
    const { bytes } = await servedChain({ host: '127.0.0.1', port, serverName }, 'https://x');
    return Buffer.from(bytes).toString();
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

async function listening(server: Pick<Server, 'listen' | 'address'>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`the chain of a server that nobody trusts, leaf first, by ${version}`, async () => {
    const chain = await served({ minVersion: version, maxVersion: version });
    assert.equal(chain, `${read('leaf.pem')}${read('ca.pem')}`);
  });
}

test('a server that demands a certificate of clients shows its own all the same', async () => {
  const chain = await served({ requestCert: true, rejectUnauthorized: true, ca: read('ca.pem') });
  assert.equal(chain, `${read('leaf.pem')}${read('ca.pem')}`);
});

test('a server with several certificates is asked for the name', async () => {
  const names: string[] = [];
  await served(
    {
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    },
    'shop.example',
  );
  assert.deepEqual(names, ['shop.example']);
});

test('where no TLS server is, the error names the address', async () => {
  const server = createServer((socket) => {
    socket.destroy();
  });
  const port = await listening(server as unknown as Server);
  const address = { host: '127.0.0.1', port };
  await assert.rejects(
    servedChain(address, 'https://x'),
    new RegExp(`127\\.0\\.0\\.1:${port} has no TLS server`),
  );
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(servedChain(address, 'https://x'), /has no TLS server that answers/);
});

function read(name: string): string {
  return readFileSync(join(directory, name), 'utf8');
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' });
}
