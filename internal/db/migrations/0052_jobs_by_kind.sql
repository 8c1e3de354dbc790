-- Each pool of workers asks for the jobs of its own kinds. With jobs_due on (run_at, id) it read the waiting jobs of all other kinds first.
drop index jobs_due;
create index jobs_due on jobs (kind, run_at, id) where failed_at is null;
