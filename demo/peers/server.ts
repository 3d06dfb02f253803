// SPDX-License-Identifier: Apache-2.0
/**
 * A workload's server: `node server.ts <credential bundle> <trust bundle> <host> <port>`; prints
 * its port and who it is, then each peer.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

const [credentials = '', trust = '', host = '', wantedPort = ''] = process.argv.slice(2);
const bundle = readFileSync(credentials, 'utf8');

const server = createServer(
  {
    // The kubelet writes the key first, then the chain: one file serves as both.
    key: bundle,
    cert: bundle,
    ca: readFileSync(trust, 'utf8'),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
  },
  (socket: TLSSocket) => {
    const peer = socket.getPeerX509Certificate()?.subjectAltName ?? '';
    process.stdout.write(`${JSON.stringify({ peer })}\n`);
    socket.on('error', () => undefined);
    socket.end(`hello, ${peer}\n`);
  },
);
server.on('tlsClientError', (error) => {
  process.stdout.write(`${JSON.stringify({ refused: error.message })}\n`);
});
server.listen(Number(wantedPort), host, () => {
  const { port } = server.address() as AddressInfo;
  const { subjectAltName: self, validTo } = new X509Certificate(bundle);
  process.stdout.write(`${JSON.stringify({ port, self, validTo })}\n`);
});
