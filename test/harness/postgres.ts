// Fresh PostgreSQL databases for tests, from the program that the Go tests use too.
import { addressesFrom } from "./addresses.ts";

const servers = addressesFrom("./test/postgres");

/** The address of a new, migrated database. The server behind it starts with the first call. */
export const freshPostgres = servers.fresh;

/** Stops the PostgreSQL server of this process, if one was started. */
export const stopPostgres = servers.stop;
