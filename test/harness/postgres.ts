// Makes new PostgreSQL databases for tests, with the program test/postgres, which uses the same code as the Go tests.
import { addressesFrom } from "./addresses.ts";

const servers = addressesFrom("postgres");

/** Returns the URL of a new, migrated database. The first call starts the PostgreSQL server. */
export const freshPostgres = servers.fresh;

/** Stops the PostgreSQL server of this process, if one was started. */
export const stopPostgres = servers.stop;
