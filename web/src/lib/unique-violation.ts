/** PostgreSQL's error code for a unique violation: another row has the id, or the slug of a series. */
export const UNIQUE_VIOLATION = "23505";
