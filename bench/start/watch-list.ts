// SPDX-License-Identifier: Apache-2.0
/**
 * The bare list of `make bench-start`: streams the requests of one signer name until the server
 * says that those were all, reads none of them, and ends. Arguments: a kubeconfig with a token, as
 * test/cluster writes it, the signer name, and the media types that it accepts.
 */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [file = '', signerName = '', accept = ''] = process.argv.slice(2);
const config = JSON.parse(readFileSync(file, 'utf8')) as {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { tokenFile: string } }];
};
const { cluster } = config.clusters[0];
const token = readFileSync(config.users[0].user.tokenFile, 'utf8');

const pool = new Pool(cluster.server, {
  connect: { ca: Buffer.from(cluster['certificate-authority-data'], 'base64') },
});
const query = new URLSearchParams({
  watch: 'true',
  sendInitialEvents: 'true',
  allowWatchBookmarks: 'true',
  resourceVersionMatch: 'NotOlderThan',
  fieldSelector: `spec.signerName=${signerName}`,
});
const { statusCode, body } = await pool.request({
  method: 'GET',
  path: `/apis/certificates.k8s.io/v1/podcertificaterequests?${query.toString()}`,
  headers: { authorization: `Bearer ${token}`, accept },
  bodyTimeout: 0,
});
if (statusCode !== 200) throw new Error(`the list was answered with ${statusCode}`);

/** The bookmark behind the last object carries it; it may come in two chunks. */
const END = 'k8s.io/initial-events-end';
let rest = Buffer.alloc(0);
for await (const chunk of body as AsyncIterable<Buffer>) {
  const seen = Buffer.concat([rest, chunk]);
  if (seen.includes(END)) process.exit(0);
  rest = Buffer.from(seen.subarray(Math.max(0, seen.length - END.length)));
}
throw new Error('the list ended without its end');
