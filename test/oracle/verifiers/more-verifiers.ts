// SPDX-License-Identifier: Apache-2.0
/** The verdicts of Python and Java, where the machine has them. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { LEAF_KEY } from './cases.ts';
import { onFiles, type Verifier } from './verifiers.ts';

/** A handshake of Python's `ssl` in memory. Exits with 0 if the client verifies, else with 3. */
const HANDSHAKE = `
import ssl, sys
sent, key, anchor = sys.argv[1:]
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain(sent, key)
client = ssl.create_default_context(cafile=anchor)
there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
ends = [client.wrap_bio(back, there, server_hostname="a.example.com"),
        server.wrap_bio(there, back, server_side=True)]
done = [False, False]
for _ in range(20):
    for at, end in enumerate(ends):
        if done[at]: continue
        try:
            end.do_handshake()
            done[at] = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLCertVerificationError:
            sys.exit(3)
    if done[0]: sys.exit(0)
sys.exit(4)
`;

/** Python, before 3.13 or from it on. Undefined if the machine has none. */
export function pythonVerifier(wanted: 'before 3.13' | 'from 3.13'): Verifier | undefined {
  const command = ['python3', 'python3.13', 'python3.14'].find((each) => {
    const asked = spawnSync(each, ['-c', 'import sys; print(sys.version_info >= (3, 13))']);
    const isNew = { True: true, False: false }[String(asked.stdout).trim()];
    return asked.status === 0 && isNew === (wanted === 'from 3.13');
  });
  if (command === undefined) return undefined;
  return (chain) =>
    Promise.resolve(
      onFiles(chain, ({ sent, anchor, write }) => {
        const key = write('key', LEAF_KEY.export({ type: 'pkcs8', format: 'pem' }).toString());
        const { status, stderr } = spawnSync(command, ['-c', HANDSHAKE, sent, key, anchor]);
        if (status === 0 || status === 3) return status === 0;
        throw new Error(`${command}: ${String(stderr)}`);
      }),
    );
}

const PROGRAM = join(import.meta.dirname, 'Verify.java');

/** Java's PKIX validator, which its TLS clients use. Undefined without a JDK. */
export function javaVerifier(): Verifier | undefined {
  if (spawnSync('javac', ['-version']).status !== 0) return undefined;
  return (chain) =>
    Promise.resolve(
      onFiles(chain, ({ sent, anchor }) => {
        const { status, stderr } = spawnSync('java', [PROGRAM, sent, anchor]);
        if (status === 0 || status === 3) return status === 0;
        throw new Error(`java: ${String(stderr)}`);
      }),
    );
}
