;; Dot products of one vector of 16-bit numbers with many of 8-bit numbers: the whole of the semantic scan.
;; Memory: the query at $query (2 bytes a number), the rows at $rows (1 byte a number), the answers at $out (4 bytes each).
(module
  (memory (export "memory") 1)
  (func (export "dot") (param $query i32) (param $rows i32) (param $out i32) (param $count i32) (param $dim i32)
    (local $end i32) (local $column i32) (local $sum v128) (local $row v128)
    (local.set $end (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $out) (local.get $end)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $column (i32.const 0))
        (loop $along
          (local.set $row (v128.load (i32.add (local.get $rows) (local.get $column))))
          (local.set $sum (i32x4.add (local.get $sum)
            (i32x4.dot_i16x8_s
              (i16x8.extend_low_i8x16_s (local.get $row))
              (v128.load (i32.add (local.get $query) (i32.shl (local.get $column) (i32.const 1)))))))
          (local.set $sum (i32x4.add (local.get $sum)
            (i32x4.dot_i16x8_s
              (i16x8.extend_high_i8x16_s (local.get $row))
              (v128.load offset=16 (i32.add (local.get $query) (i32.shl (local.get $column) (i32.const 1)))))))
          (local.set $column (i32.add (local.get $column) (i32.const 16)))
          (br_if $along (i32.lt_u (local.get $column) (local.get $dim))))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $rows (i32.add (local.get $rows) (local.get $dim)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $each)))))
