// SPDX-License-Identifier: Apache-2.0
/**
 * A workload's client:
 * `node client.ts <host:port> <credential bundle> <trust bundle> <wanted identity>`. The bundle `-`
 * is read from stdin.
 */
import { readFileSync } from 'node:fs';
import { connect, type PeerCertificate } from 'node:tls';

const [address = '', credentials = '', trust = '', wanted = ''] = process.argv.slice(2);
const [host = '', port] = address.split(':');
const bundle = readFileSync(credentials === '-' ? 0 : credentials, 'utf8');

const socket = connect({
  host,
  port: Number(port),
  key: bundle,
  cert: bundle,
  ca: readFileSync(trust, 'utf8'),
  minVersion: 'TLSv1.3',
  // A SPIFFE peer is who its URI says, not which host it runs on.
  checkServerIdentity: (_host: string, { subjectaltname = '' }: PeerCertificate) =>
    subjectaltname === `URI:${wanted}`
      ? undefined
      : new Error(`the server is ${subjectaltname}, not URI:${wanted}`),
});
let server = '';
let heard = '';
let failure = 'the server closed the connection';
socket.setEncoding('utf8');
socket.on('secureConnect', () => {
  server = socket.getPeerX509Certificate()?.subjectAltName ?? '';
});
socket.on('data', (text: string) => (heard += text));
socket.on('error', (error: Error) => (failure = error.message));
socket.on('close', () => {
  // In TLS 1.3 a client learns only after the handshake that its certificate was refused.
  const result = heard === '' ? { refused: failure } : { server, heard: heard.trim() };
  process.stdout.write(`${JSON.stringify(result)}\n`);
});
