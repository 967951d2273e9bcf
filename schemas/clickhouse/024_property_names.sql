-- With the default of ClickHouse since 25.12, a merge writes each name of a property as a column of its own, with a value for each row. So it needed
-- more than 4 GB of memory for 6,000 rows with 75,000 names, and failed again and again. Now these names are a map in eight or 32 parts.
ALTER TABLE records MODIFY SETTING object_shared_data_serialization_version = 'map_with_buckets';
