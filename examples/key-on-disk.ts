// SPDX-License-Identifier: Apache-2.0
/**
 * A signer whose CA is two files, `tls.crt` and `tls.key`, below CA_ROOT. `node key-on-disk.ts crd`
 * and `… roles` print what the cluster needs; without a word it works until SIGTERM.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  PermanentError,
  crd,
  defineAuthority,
  openCa,
  roles,
  run,
  type Ca,
  type Context,
  type Issuer,
} from 'countersign';

interface Config {
  /** A folder below CA_ROOT. */
  readonly folder: string;
}

const { CA_ROOT = '/etc/ca', KUBECONFIG, NAMESPACE = 'disk-signer' } = process.env;
const opened = new WeakMap<Config, Ca>();

/** Opened once for each version of an issuer's spec. */
function caOf({ config }: Issuer<Config>, ctx: Context): Ca {
  const known = opened.get(config);
  if (known !== undefined) return known;
  const read = (file: string): string => readFileSync(join(CA_ROOT, config.folder, file), 'utf8');
  const ca = openCa({ certificate: read('tls.crt'), key: read('tls.key') }, ctx);
  opened.set(config, ca);
  return ca;
}

const authority = defineAuthority<Config>({
  name: 'disk-signer',
  issuer: { group: 'disk.example.com', version: 'v1', kind: 'DiskIssuer', plural: 'diskissuers' },
  schema: {
    parse: (value) => {
      const { folder } = value as Partial<Config>;
      if (typeof folder === 'string' && /^[a-z0-9-]+$/.test(folder)) return { folder };
      throw new PermanentError('folder must be a name in small letters, digits and dashes');
    },
  },
  check: async (issuer, ctx) => {
    await Promise.resolve(caOf(issuer, ctx));
  },
  sign: (request, issuer, ctx) => caOf(issuer, ctx).sign(request, ctx),
});

const [, , word, ...signerNames] = process.argv;
if (word === 'crd') process.stdout.write(crd(authority));
else if (word === 'roles')
  process.stdout.write(roles(authority, { signerNames, namespace: NAMESPACE }));
else await run(authority, { listen: '127.0.0.1:0', ...(KUBECONFIG && { kubeconfig: KUBECONFIG }) });
