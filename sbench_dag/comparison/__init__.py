"""Two studies of the same plans: another policy, another MuJoCo, other code. What did it change?"""
